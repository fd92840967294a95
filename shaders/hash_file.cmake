# Writes FILE.hash.hpp: a comment with the hash of FILE.
file(SHA256 ${FILE} hash)
file(WRITE ${FILE}.hash.hpp "// ${hash}\n")
