"""The graph of the sample `photo`: a picture of bytes from pinned memory, the Gaussian and the Laplacian pyramid of its three channels with a binomial filter of five,
the edges of each level, the histogram of each channel and the reconstruction, as bytes in pinned memory.

The picture is the sample's own reconstruction, which the sample has compared with its input. The results are compared with the sample's files.
"""
from shared import Check, Contender, Jax, Torch, need, np, serve

LEVELS, BINS = 5, 256
ALLOWED_DIFFERENCE, ALLOWED_SHARE = 1, 1e-4  # values at the middle of two bytes round either way
LIGHT = (0.299, 0.587, 0.114)


def number_of_levels(height, width):
    levels, side = 2, (min(height, width) + 1) // 2
    while levels < LEVELS and side >= 16:
        levels, side = levels + 1, (side + 1) // 2
    return levels


class Maths:
    """The pyramid by slices of whole planes. `pad(plane, across, down)` repeats the border; planes are channels x height x width."""

    def __init__(self, pad, stack, sqrt, to_byte, planes_of, picture_of, histograms):
        self.pad, self.stack, self.sqrt, self.to_byte = pad, stack, sqrt, to_byte
        self.planes_of, self.picture_of, self.histograms = planes_of, picture_of, histograms

    def halved(self, fine):
        wide = self.pad(fine, 2, 0)
        a, b, c, d, e = (wide[..., i:i + fine.shape[-1]:2] for i in range(5))
        narrow = (a + e + 4 * (b + d) + 6 * c) * 0.0625
        high = self.pad(narrow, 0, 2)
        a, b, c, d, e = (high[..., i:i + fine.shape[-2]:2, :] for i in range(5))
        return (a + e + 4 * (b + d) + 6 * c) * 0.0625

    def expanded(self, coarse, height, width):
        count, wide = coarse.shape[-1], self.pad(coarse, 1, 0)
        a, b, c = (wide[..., i:i + count] for i in range(3))
        rows = self.stack((0.125 * (a + c) + 0.75 * b, 0.5 * (b + c)), -1).reshape(*coarse.shape[:-1], 2 * count)[..., :width]
        count, high = rows.shape[-2], self.pad(rows, 0, 1)
        a, b, c = (high[..., i:i + count, :] for i in range(3))
        return self.stack((0.125 * (a + c) + 0.75 * b, 0.5 * (b + c)), -2).reshape(rows.shape[0], 2 * count, width)[..., :height, :]

    def edges(self, planes):
        light = self.pad((LIGHT[0] * planes[0] + LIGHT[1] * planes[1] + LIGHT[2] * planes[2])[None], 1, 1)[0]
        across, down = light[:, 2:] - light[:, :-2], light[2:] - light[:-2]
        across = across[:-2] + 2 * across[1:-1] + across[2:]
        down = down[:, :-2] + 2 * down[:, 1:-1] + down[:, 2:]
        return self.to_byte(0.5 * self.sqrt(across * across + down * down))

    def results(self, rgb):
        gaussian, laplacian, results = [self.planes_of(rgb)], [], {}
        for level in range(number_of_levels(*rgb.shape[:2]) - 1):
            fine = gaussian[level]
            gaussian.append(self.halved(fine))
            laplacian.append(fine - self.expanded(gaussian[level + 1], *fine.shape[-2:]))
            results[f"gaussian-{level + 1}"] = self.to_byte(self.picture_of(gaussian[level + 1]))
            results[f"laplacian-{level}"] = self.to_byte(self.picture_of(laplacian[level]) + 128)
        for level, planes in enumerate(gaussian):
            results[f"edges-{level}"] = self.edges(planes)
        whole = gaussian[-1]
        for difference in reversed(laplacian):
            whole = difference + self.expanded(whole, *difference.shape[-2:])
        return results | {"reconstruction": self.to_byte(self.picture_of(whole)), "histogram": self.histograms(rgb, gaussian[0])}


def read(folder, name):
    from PIL import Image
    return np.array(Image.open(folder / "out" / f"photo-{name}.png"))


def checks(folder, results):
    picture, different, values, largest = read(folder, "reconstruction"), 0, 0, 0
    for name, values_of in results.items():
        if name in ("reconstruction", "histogram"):
            continue
        difference = np.abs(np.asarray(values_of).astype(int) - read(folder, name))
        different, values, largest = different + np.count_nonzero(difference), values + difference.size, max(largest, difference.max())
    histogram = np.stack([np.bincount(picture[..., c].reshape(-1), minlength=BINS) for c in range(3)])
    return [Check("bytes, largest difference from the sample", int(largest), ALLOWED_DIFFERENCE),
            Check("bytes, share of different ones", different / values, ALLOWED_SHARE),
            Check("reconstruction, different bytes", np.count_nonzero(np.asarray(results["reconstruction"]) != picture), 0),
            Check("histogram, different bins", np.count_nonzero(np.asarray(results["histogram"]).astype(int).reshape(3, BINS) != histogram), 0)]


def of_torch(device, folder, _):
    need("PIL")
    framework = Torch(device)
    torch = framework.torch
    maths = Maths(
        pad=lambda planes, across, down: torch.nn.functional.pad(planes[None], (across, across, down, down), mode="replicate")[0],
        stack=torch.stack, sqrt=torch.sqrt, to_byte=lambda values: (values.clamp(0, 255) + 0.5).to(torch.uint8).contiguous(),
        planes_of=lambda rgb: rgb.permute(2, 0, 1).float(), picture_of=lambda planes: planes.permute(1, 2, 0),
        histograms=lambda rgb, planes: torch.stack([torch.histc(plane, BINS, 0, BINS - 1) for plane in planes]).int())

    def make(compile):
        picture = framework.pinned(read(folder, "reconstruction"))
        rgb, compiled = framework.tensor(np.zeros(picture.shape, np.uint8)), compile(maths.results)
        results = {name: framework.pinned(np.zeros(value.shape, value.cpu().numpy().dtype)) for name, value in maths.results(rgb).items()}

        def launch():
            rgb.copy_(picture, non_blocking=True)
            for name, value in compiled(rgb).items():
                results[name].copy_(value, non_blocking=True)
        run = framework.repeat(framework.graph(launch))
        run(1)
        return Contender(run, checks(folder, results))
    return framework.variants(make)


def of_jax(device, folder, _):
    need("PIL")
    framework = Jax(device)
    jnp = framework.jax.numpy
    maths = Maths(
        pad=lambda planes, across, down: jnp.pad(planes, ((0, 0), (down, down), (across, across)), mode="edge"),
        stack=jnp.stack, sqrt=jnp.sqrt, to_byte=lambda values: (jnp.clip(values, 0, 255) + 0.5).astype(jnp.uint8),
        planes_of=lambda rgb: rgb.transpose(2, 0, 1).astype(jnp.float32), picture_of=lambda planes: planes.transpose(1, 2, 0),
        histograms=lambda rgb, planes: jnp.stack([jnp.bincount(rgb[..., c].reshape(-1), length=BINS) for c in range(3)]))

    def make():
        compiled, picture = framework.from_pinned(maths.results), framework.pinned(read(folder, "reconstruction"))
        return Contender(framework.repeat(lambda: compiled(picture)), checks(folder, compiled(picture)))
    return {"JAX": make}


serve({"torch": of_torch, "jax": of_jax})
