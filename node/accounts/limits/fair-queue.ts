/** A weighted class of a queue, by name: how many of its items are taken in a round, where others wait as well. */
export type ClassWeights<Class extends string> = Readonly<Record<Class, number>>;

/** Items of one class: each holder's own, and the holders in the order of their turns. */
class HolderQueues<Item> {
  readonly #items = new Map<string, Item[]>();

  get holders(): number {
    return this.#items.size;
  }

  push(holder: string, item: Item): void {
    const items = this.#items.get(holder);
    if (items === undefined) this.#items.set(holder, [item]);
    else items.push(item);
  }

  /** The first item of the holder whose turn it is; undefined where nothing waits. */
  shift(): Item | undefined {
    const [next] = this.#items;
    if (next === undefined) return undefined;
    const [holder, items] = next;
    const item = items.shift();
    // A map keeps the order of insertion: who was served goes to the end.
    this.#items.delete(holder);
    if (items.length > 0) this.#items.set(holder, items);
    return item;
  }
}

/**
 * A queue in which nobody waits for what another piled up: classes are served by their weights, within a class one
 * holder after the other (weighted round robin), and the items of one holder in the order they came.
 */
export class FairQueue<Class extends string, Item> {
  readonly #classes: readonly { readonly weight: number; readonly queues: HolderQueues<Item> }[];
  readonly #byName = new Map<string, HolderQueues<Item>>();
  #size = 0;
  /** The class that is served, and how many more of its items in this round. */
  #at = 0;
  #left: number;

  /** Classes are served in the order given. */
  constructor(weights: ClassWeights<Class>) {
    this.#classes = Object.entries<number>(weights).map(([name, weight]) => {
      const queues = new HolderQueues<Item>();
      this.#byName.set(name, queues);
      return { weight, queues };
    });
    this.#left = this.#classes[0]?.weight ?? 0;
  }

  /** Items that wait. */
  get size(): number {
    return this.#size;
  }

  /** Holders for whom something waits. */
  get holders(): number {
    return this.#classes.reduce((sum, { queues }) => sum + queues.holders, 0);
  }

  push(name: Class, holder: string, item: Item): void {
    this.#byName.get(name)?.push(holder, item);
    this.#size++;
  }

  /** The item whose turn it is; undefined where nothing waits. */
  shift(): Item | undefined {
    if (this.#size === 0) return undefined;
    for (;;) {
      const item = this.#left > 0 ? this.#classes[this.#at]?.queues.shift() : undefined;
      if (item !== undefined) {
        this.#left--;
        this.#size--;
        return item;
      }
      this.#at = (this.#at + 1) % this.#classes.length;
      this.#left = this.#classes[this.#at]?.weight ?? 0;
    }
  }
}
