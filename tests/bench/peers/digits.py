"""The training step of the sample `digits`: 128 rows in the order of the epoch, gathered and half of them moved by a pixel, three dense layers, the gradient, and
momentum with weight decay and a falling rate. The sample adds the gradients of eight microbatches of 16 rows; a peer computes that sum as the gradient of the batch.

The order of the rows is a table on the device, made by the sample's permutation. In the checked training the sample's random moves are a table too, so the loss of
each epoch is that of the sample. In the timed training each step draws its moves with the generator of the framework.
"""
from shared import Check, Contender, Jax, Torch, found, np, serve

SIDE, PIXELS, BATCH, LAYERS, SEED = 8, 64, 128, ((64, 64), (64, 32), (32, 10)), 1
RATE, MOMENTUM, DECAY = 0.1, 0.9, 1e-3
ALLOWED_LOSS, REQUIRED_ACCURACY = 1e-3, 0.96
MASK = 0xFFFFFFFF


def mix(x):
    x ^= x >> 16
    x = x * 0x7FEB352D & MASK
    x ^= x >> 15
    x = x * 0x846CA68B & MASK
    return x ^ x >> 16


def order_of_epoch(rows, epoch):
    """The sample's permutation of the rows; steps take batches from its beginning."""
    mask = (1 << (rows - 1).bit_length()) - 1
    keys = []
    key = mix(SEED ^ mix(epoch))
    for _ in range(4):
        key = mix(key + 0x9E3779B9 & MASK)
        keys.append(key)
    row, outside = np.arange(rows, dtype=np.uint64), np.full(rows, True)
    while outside.any():
        for key in keys:
            row[outside] = row[outside] * np.uint64(key | 1) + np.uint64(key >> 16) & np.uint64(mask)
            row[outside] ^= row[outside] >> np.uint64(5)
        outside = row >= rows
    return row.astype(np.int64)


def random_values(count):
    """The sample's uniform numbers: Philox4x32-10, the upper 24 bits of each word."""
    c = [np.arange((count + 3) // 4, dtype=np.uint64), *(np.zeros((count + 3) // 4, np.uint64) for _ in range(3))]
    low, half = np.uint64(MASK), np.uint64(32)
    for i in range(10):
        a, b = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        keys = [np.uint64(SEED + i * 0x9E3779B9 & MASK), np.uint64(i * 0xBB67AE85 & MASK)]
        c = [b >> half ^ c[1] ^ keys[0], b & low, a >> half ^ c[3] ^ keys[1], a & low]
    return ((np.stack(c, 1).reshape(-1)[:count] >> np.uint64(8)) / 2.0**24).astype(np.float32)


def first_weights():
    generator, weights = np.random.RandomState(SEED), []
    for inputs, units in LAYERS:
        words = generator.randint(0, 2**32, inputs * units, dtype=np.uint32)
        weights.append(((3 / inputs) ** 0.5 * (words / 2.0**31 - 1)).astype(np.float32).reshape(inputs, units))
        weights.append(np.zeros(units, np.float32))
    return weights


class Task:
    def __init__(self, folder, data):
        table = np.loadtxt(data / "digits.csv", delimiter=",", dtype=np.int64)
        held_out = np.arange(len(table)) % 5 == 0
        pixels = (table[:, :PIXELS] / 16).astype(np.float32)
        self.held_out, self.held_out_labels = pixels[held_out], table[held_out, PIXELS]
        self.images = np.pad(pixels[~held_out], ((0, 0), (0, 1)))  # a last pixel of 0, for what lies outside
        self.labels = table[~held_out, PIXELS]
        self.first, rows = first_weights(), len(self.labels)
        self.losses = {int(epoch): float(loss) for epoch, loss in found(folder, r"epoch +(\d+)/\d+ +loss ([0-9.]+)") if int(epoch) > 2}
        self.epochs, self.per_epoch = max(self.losses), rows // BATCH
        self.steps = self.epochs * self.per_epoch
        self.order = np.concatenate([order_of_epoch(rows, epoch)[:self.per_epoch * BATCH] for epoch in range(self.epochs)]).reshape(-1, BATCH)
        self.moves = random_values(self.steps * BATCH).reshape(-1, BATCH)
        # For each of eight moves, the pixel that each pixel comes from: four moves by one pixel, and four times none.
        y, x = np.divmod(np.arange(PIXELS), SIDE)
        self.source = np.full((8, PIXELS), PIXELS)
        for move, (right, down) in enumerate(((1, 0), (-1, 0), (0, 1), (0, -1), (0, 0), (0, 0), (0, 0), (0, 0))):
            inside = (x - right >= 0) & (x - right < SIDE) & (y - down >= 0) & (y - down < SIDE)
            self.source[move, inside] = ((y - down) * SIDE + x - right)[inside]

    def accuracy(self, weights):
        values = self.held_out
        for i in range(0, len(weights), 2):
            values = (np.tanh(values) if i else values) @ weights[i] + weights[i + 1]
        return float(np.mean(values.argmax(1) == self.held_out_labels))

    def checks(self, losses, weights):
        """`losses`: of each epoch of the checked training; `weights`: at the end of the timed training."""
        return [Check("loss of an epoch, difference from the sample", max(abs(losses[epoch - 1] - loss) for epoch, loss in self.losses.items()), ALLOWED_LOSS),
                Check("held-out accuracy", self.accuracy(weights), REQUIRED_ACCURACY, at_least=True)]


class TorchTraining:
    def __init__(self, task, framework, compile, draw):
        torch, tensor = framework.torch, framework.tensor
        self.torch, self.task = torch, task
        self.first = [tensor(weights) for weights in task.first]
        self.weights = [weights.clone().requires_grad_() for weights in self.first]
        self.running, self.step = tensor(np.zeros((), np.float32)), tensor(np.zeros(1, np.int64))
        self.optimizer = torch.optim.SGD(self.weights, lr=tensor(np.full((), RATE, np.float32)), momentum=MOMENTUM, weight_decay=DECAY,
                                         **({"fused": True} if framework.on_gpu else {}))
        self.rate = self.optimizer.param_groups[0]["lr"]  # on the device, so a replay changes it
        images, labels, order, source = (tensor(array) for array in (task.images, task.labels, task.order, task.source))

        def loss():
            rows = order.index_select(0, self.step)[0]
            move = (8 * draw(self.step)).long()
            values = images.take(rows[:, None] * (PIXELS + 1) + source.index_select(0, move))
            for i in range(0, len(self.weights), 2):
                values = torch.addmm(self.weights[i + 1], values.tanh() if i else values, self.weights[i])
            return torch.nn.functional.cross_entropy(values, labels.index_select(0, rows))
        loss = compile(loss)

        def step():
            self.optimizer.zero_grad(set_to_none=True)
            value = loss()
            value.backward()
            self.optimizer.step()
            with torch.no_grad():
                self.running.add_(value)
                self.step.add_(1)
                self.rate.sub_(RATE / task.steps)
        self.launch = framework.graph(step)
        self.run = framework.repeat(self.launch)
        self.wait = framework.wait

    def begin(self):
        with self.torch.no_grad():
            for weights, first in zip(self.weights, self.first):
                weights.copy_(first)
                if self.optimizer.state[weights].get("momentum_buffer") is not None:
                    self.optimizer.state[weights]["momentum_buffer"].zero_()
            self.rate.fill_(RATE)
            self.running.zero_()
            self.step.zero_()
        self.wait()

    def losses(self):
        self.begin()
        for _ in range(self.task.epochs):
            self.run(self.task.per_epoch)
            yield self.running.item() / self.task.per_epoch
            self.running.zero_()

    def last_weights(self):
        self.begin()
        self.run(self.task.steps)
        return [weights.detach().cpu().numpy() for weights in self.weights]


def of_torch(device, folder, data):
    framework = Torch(device)
    task = Task(folder, data)
    moves = framework.tensor(task.moves)

    def make(compile):
        checked = TorchTraining(task, framework, compile, lambda step: moves.index_select(0, step)[0])
        timed = TorchTraining(task, framework, compile, lambda step: framework.torch.rand(BATCH, device=framework.device))
        return Contender(timed.run, task.checks(list(checked.losses()), timed.last_weights()), prepare=timed.begin)
    return framework.variants(make)


class JaxTraining:
    """A call of `launch` makes `length` steps."""

    def __init__(self, task, framework, data, draw, length):
        jax = framework.jax
        jnp = jax.numpy
        self.jax, self.task, self.data, self.length = jax, task, data, length

        def loss(weights, values, labels):
            for i in range(0, len(weights), 2):
                values = (jnp.tanh(values) if i else values) @ weights[i] + weights[i + 1]
            return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(values), labels[:, None], 1))

        def step(data, state):
            weights, velocity, number, running = state
            rows = data["order"][number]
            move = (8 * draw(data, number)).astype(jnp.int32)
            values = data["images"].reshape(-1)[rows[:, None] * (PIXELS + 1) + data["source"][move]]
            value, gradient = jax.value_and_grad(loss)(weights, values, data["labels"][rows])
            rate = RATE * (1 - number / task.steps)
            velocity = [MOMENTUM * v + g + DECAY * w for v, g, w in zip(velocity, gradient, weights)]
            return [w - rate * v for w, v in zip(weights, velocity)], velocity, number + 1, running + value

        def steps(data, state):
            return step(data, state) if length == 1 else jax.lax.scan(lambda state, _: (step(data, state), None), state, None, length=length)[0]
        self.steps = jax.jit(steps, donate_argnums=1)
        self.run = framework.repeat(self.launch)

    def begin(self):
        first = self.task.first
        copy = self.jax.numpy.array  # a call takes the memory of its argument
        self.state = ([copy(weights) for weights in first], [copy(np.zeros_like(weights)) for weights in first], copy(np.int32(0)), copy(np.float32(0)))
        self.jax.block_until_ready(self.state)

    def launch(self):
        self.state = self.steps(self.data, self.state)
        return self.state

    def losses(self):
        self.begin()
        for _ in range(self.task.epochs):
            self.run(self.task.per_epoch // self.length)
            yield float(self.state[3]) / self.task.per_epoch
            self.state = (*self.state[:3], self.jax.numpy.array(np.float32(0)))

    def last_weights(self):
        self.begin()
        self.run(self.task.steps // self.length)
        return [np.asarray(weights) for weights in self.state[0]]


def of_jax(device, folder, data):
    framework = Jax(device)
    jax = framework.jax
    task = Task(folder, data)
    arrays = {name: getattr(task, name) for name in ("images", "labels", "order", "source", "moves")}
    arrays = jax.device_put({name: array.astype(np.int32) if array.dtype == np.int64 else array for name, array in arrays.items()})
    arrays["key"] = jax.random.PRNGKey(SEED)

    def make(checked_length, timed_length):
        checked = JaxTraining(task, framework, arrays, lambda data, number: data["moves"][number], checked_length)
        timed = JaxTraining(task, framework, arrays, lambda data, number: jax.random.uniform(jax.random.fold_in(data["key"], number), (BATCH,)), timed_length)
        return Contender(timed.run, task.checks(list(checked.losses()), timed.last_weights()), units=timed_length, prepare=timed.begin)
    variants = {f"{framework.name}, scan of ten epochs": lambda: make(task.per_epoch, 10 * task.per_epoch)}
    return variants if framework.loops else variants | {f"{framework.name}, call for each step": lambda: make(1, 1)}


serve({"torch": of_torch, "jax": of_jax})
