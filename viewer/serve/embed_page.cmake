# Writes the page as a source: index.html of FOLDER with its scripts and style sheets inline, each with the nonce that the server fills in.
file(READ ${FOLDER}/index.html page)
string(REGEX MATCHALL "<link rel=\"stylesheet\" href=\"[A-Za-z0-9_.-]+\">|<script src=\"[A-Za-z0-9_.-]+\"></script>" tags "${page}")
foreach(tag IN LISTS tags)
  string(REGEX REPLACE ".*\"([A-Za-z0-9_.-]+)\">.*" "\\1" name "${tag}")
  file(READ ${FOLDER}/${name} text)
  if(name MATCHES "css$")
    string(REPLACE "${tag}" "<style nonce=\"{{nonce}}\">\n${text}</style>" page "${page}")
  else()
    string(REPLACE "${tag}" "<script nonce=\"{{nonce}}\">\n${text}</script>" page "${page}")
  endif()
endforeach()
file(WRITE ${OUTPUT}
  "#include \"serve/page.hpp\"\n\nnamespace reprise::viewer {\nconst std::string_view kPage = R\"reprise_page(${page})reprise_page\";\n}  // namespace reprise::viewer\n")
