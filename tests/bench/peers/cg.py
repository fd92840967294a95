"""The solve of the sample `cg`: conjugate gradients in double precision for the five-point Laplacian of a square grid, from zero until the residual's norm is below
1e-8 of the right-hand side's. The right-hand side comes from pinned memory and the solution goes there.

Two kinds: with the sample's test after each iteration, and with the sample's number of iterations in blocks of ten, without a test.
"""
from shared import Check, Contender, Jax, Torch, found, np, serve

TOLERANCE, MAX_ITERATIONS = 1e-8, 100_000
ALLOWED_ITERATIONS, ALLOWED_RESIDUAL = 1, 2 * TOLERANCE  # the sample allows this residual as well
TESTED, FIXED = "tested each iteration", "fixed number, by tens"


def right_side(size):
    x = np.arange(1, size + 1) / (size + 1)
    y = x[:, None]

    def hill(at_x, at_y):
        return np.exp(-((x - at_x) ** 2 + (y - at_y) ** 2) / 0.005)
    return (np.sin(3 * np.pi * x) * np.sin(2 * np.pi * y) + 40 * hill(0.3, 0.6) - 60 * hill(0.7, 0.25)) / (size + 1) ** 2


class Task:
    def __init__(self, folder):
        self.size = int(found(folder, r"(\d+) x \d+ points")[0])
        self.iterations = int(found(folder, r"one graph with a loop: +(\d+) iterations")[0])
        self.b = right_side(self.size)

    def contender(self, run, x, iterations):
        x = np.pad(np.asarray(x), 1)
        rest = self.b - (4 * x[1:-1, 1:-1] - x[:-2, 1:-1] - x[2:, 1:-1] - x[1:-1, :-2] - x[1:-1, 2:])
        checks = [Check("iterations, difference from the sample", abs(int(iterations) - self.iterations), ALLOWED_ITERATIONS),
                  Check("residual", float(np.linalg.norm(rest) / np.linalg.norm(self.b)), ALLOWED_RESIDUAL)]
        return Contender(run, checks, units=int(iterations), of_sample=self.iterations)


class TorchSolve:
    def __init__(self, task, framework, compile):
        torch = framework.torch
        self.framework, self.task = framework, task
        self.b, self.solution = framework.pinned(task.b), framework.pinned(np.zeros_like(task.b))
        x, r, p = (framework.tensor(np.zeros_like(task.b)) for _ in range(3))
        squared = framework.tensor(np.zeros(()))
        self.squared_now = framework.pinned(np.zeros(()))

        def begin():
            r.copy_(self.b, non_blocking=True)
            p.copy_(r)
            x.zero_()
            squared.copy_((r * r).sum())
            self.squared_now.copy_(squared, non_blocking=True)

        def iterate(x, r, p, squared):
            q = 4 * p
            q[1:] -= p[:-1]
            q[:-1] -= p[1:]
            q[:, 1:] -= p[:, :-1]
            q[:, :-1] -= p[:, 1:]
            length = squared / (p * q).sum()
            x.addcmul_(p, length)
            r.addcmul_(q, length, value=-1)
            rest = (r * r).sum()
            p.mul_(rest / squared).add_(r)
            squared.copy_(rest)
        iterate = compile(iterate)

        def iterations(count):
            for _ in range(count):
                iterate(x, r, p, squared)

        def tested():
            iterations(1)
            self.squared_now.copy_(squared, non_blocking=True)

        def end():
            self.solution.copy_(x, non_blocking=True)

        def remainder():
            iterations(task.iterations % 10)
            end()
        self.begin, self.tested, self.ten, self.remainder, self.end = map(framework.graph, (begin, tested, lambda: iterations(10), remainder, end))

    def solve_tested(self):
        self.begin()
        self.framework.wait()
        limit = TOLERANCE**2 * self.squared_now.item()
        self.iterations = 0
        while self.squared_now.item() > limit and self.iterations < MAX_ITERATIONS:
            self.tested()
            self.framework.wait()
            self.iterations += 1
        self.end()

    def solve_fixed(self):
        self.begin()
        for _ in range(self.task.iterations // 10):
            self.ten()
        self.remainder()
        self.iterations = self.task.iterations

    def contender(self, solve):
        run = self.framework.repeat(solve)
        run(1)
        return self.task.contender(run, self.solution, self.iterations)


def of_torch(device, folder, _):
    framework, task = Torch(device), Task(folder)

    def contenders(kind, solve):
        variants = framework.variants(lambda compile: (lambda made: made.contender(lambda: solve(made)))(TorchSolve(task, framework, compile)))
        return {f"{name}, {kind}": make for name, make in variants.items()}
    return contenders(TESTED, TorchSolve.solve_tested) | contenders(FIXED, TorchSolve.solve_fixed)


def of_jax(device, folder, _):
    framework, task = Jax(device, jax_enable_x64=True), Task(folder)
    jax, jnp = framework.jax, framework.jax.numpy

    def iterate(state):
        x, r, p, squared, number = state
        wide = jnp.pad(p, 1)
        q = 4 * p - wide[:-2, 1:-1] - wide[2:, 1:-1] - wide[1:-1, :-2] - wide[1:-1, 2:]
        length = squared / jnp.vdot(p, q)
        r = r - length * q
        rest = jnp.vdot(r, r)
        return x + length * p, r, r + rest / squared * p, rest, number + 1

    def begin(b):
        return jnp.zeros_like(b), b, b, jnp.vdot(b, b), 0

    def solve_tested(b):
        first = begin(b)
        last = jax.lax.while_loop(lambda state: (state[3] > TOLERANCE**2 * first[3]) & (state[4] < MAX_ITERATIONS), iterate, first)
        return last[0], last[4]

    def solve_fixed(b):
        last = jax.lax.scan(lambda state, _: (iterate(state), None), begin(b), None, length=task.iterations, unroll=10)[0]
        return last[0], last[4]

    def contender(solve):
        compiled, b = framework.from_pinned(solve), framework.pinned(task.b)
        return task.contender(framework.repeat(lambda: compiled(b)), *map(np.asarray, compiled(b)))
    return {f"{framework.name}, while_loop, {TESTED}": lambda: contender(solve_tested), f"{framework.name}, scan, {FIXED}": lambda: contender(solve_fixed)}


serve({"torch": of_torch, "jax": of_jax})
