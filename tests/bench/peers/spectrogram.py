"""The graph of the sample `spectrogram`: a stretch of sound from pinned memory, 256 frames with a window, their transforms, and the levels in decibels as bytes in
pinned memory, highest frequency first. Frames have 1,024 samples and begin every 256.

The sound is the sample's out/chirp.wav, and the sample is started with it. The levels of the whole sound are compared with the sample's picture.
"""
import wave

from shared import Check, Contender, Jax, Torch, need, np, serve

SIZE, HOP, BATCH, FLOOR = 1024, 256, 256, -100.0
STRETCH = (BATCH - 1) * HOP + SIZE
ALLOWED_DIFFERENCE, ALLOWED_SHARE = 2, 1e-3  # near the floor, single precision matters
# The colours of the sample's picture (samples/spectrogram/picture.cpp).
SCALE = ((0, 0, 4), (31, 12, 72), (85, 15, 109), (136, 34, 106), (186, 54, 85), (227, 89, 51), (249, 140, 10), (252, 255, 164))


def window():
    return (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(SIZE) / SIZE)).astype(np.float32)


class Task:
    def __init__(self, folder):
        from PIL import Image
        with wave.open(str(folder / "out/chirp.wav")) as file:
            self.sound = (np.frombuffer(file.readframes(file.getnframes()), np.int16) / 32768).astype(np.float32)
        at = np.arange(256) * (len(SCALE) - 1) / 255
        colours = (np.stack([np.interp(at, range(len(SCALE)), channel) for channel in zip(*SCALE)], -1) + 0.5).astype(int)
        level_of = {tuple(colour): level for level, colour in enumerate(colours)}
        picture = np.array(Image.open(folder / "out/spectrogram.png"))
        self.levels = np.array([level_of[tuple(colour)] for colour in picture.reshape(-1, 3)]).reshape(picture.shape[:2])

    def stretches(self):
        for first in range(0, self.levels.shape[1], BATCH):
            part = self.sound[first * HOP:first * HOP + STRETCH]
            yield np.pad(part, (0, STRETCH - len(part)))

    def checks(self, levels_of):
        """`levels_of`: of a stretch."""
        levels = np.concatenate([np.array(levels_of(stretch)) for stretch in self.stretches()], 1)[:, :self.levels.shape[1]]
        difference = np.abs(levels.astype(int) - self.levels)
        return [Check("levels, largest difference from the sample", int(difference.max()), ALLOWED_DIFFERENCE),
                Check("levels, share of different ones", np.count_nonzero(difference) / difference.size, ALLOWED_SHARE)]


def of_torch(device, folder, _):
    need("PIL")
    framework, task = Torch(device), Task(folder)
    torch = framework.torch
    fade = framework.tensor(window())

    def levels_of(sound):
        spectra = torch.view_as_real(torch.fft.rfft(sound.unfold(0, SIZE, HOP) * fade)) * (4 / SIZE)
        decibels = 10 * torch.log10((spectra * spectra).sum(-1) + 1e-20)
        return ((255 * (1 - decibels / FLOOR)).clamp(0, 255) + 0.5).to(torch.uint8).t().flip(0).contiguous()

    def make(compile):
        sound, shown = framework.pinned(next(task.stretches())), framework.pinned(np.zeros((SIZE // 2 + 1, BATCH), np.uint8))
        there, compiled = framework.tensor(np.zeros(STRETCH, np.float32)), compile(levels_of)

        def launch():
            there.copy_(sound, non_blocking=True)
            shown.copy_(compiled(there), non_blocking=True)
        run = framework.repeat(framework.graph(launch))

        def of(stretch):
            sound.copy_(torch.as_tensor(stretch))
            run(1)
            return shown
        return Contender(run, task.checks(of))
    return framework.variants(make)


def of_jax(device, folder, _):
    need("PIL")
    framework, task = Jax(device), Task(folder)
    jnp = framework.jax.numpy
    fade = jnp.asarray(window())

    def levels_of(sound):
        hops = sound.reshape(-1, HOP)
        frames = jnp.concatenate([hops[i:i + BATCH] for i in range(SIZE // HOP)], 1)
        spectra = jnp.fft.rfft(frames * fade) * (4 / SIZE)
        decibels = 10 * jnp.log10(spectra.real**2 + spectra.imag**2 + 1e-20)
        return (jnp.clip(255 * (1 - decibels / FLOOR), 0, 255) + 0.5).astype(jnp.uint8).T[::-1]

    def make():
        compiled, sound = framework.from_pinned(levels_of), framework.pinned(next(task.stretches()))
        return Contender(framework.repeat(lambda: compiled(sound)), task.checks(lambda stretch: compiled(framework.pinned(stretch))))
    return {"JAX": make}


serve({"torch": of_torch, "jax": of_jax})
