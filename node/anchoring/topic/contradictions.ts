/** A source, or a member, whose last word cannot be true if what the others say is. */
export interface Contradiction {
  /** Name of the source, or of the member. */
  readonly who: string;
  /** What it contradicts: what is final, what two other sources agree on, or what it said itself. */
  readonly kind: 'final' | 'agreed' | 'itself';
  /** The lowest sequence number known at which it does. */
  readonly sequence: number;
}

/** Who is contradicted now, by name. */
export class Contradictions {
  readonly #open = new Map<string, Contradiction>();

  get all(): readonly Contradiction[] {
    return [...this.#open.values()];
  }

  of(who: string): Contradiction | null {
    return this.#open.get(who) ?? null;
  }

  note(contradiction: Contradiction): void {
    // What it said against what is final, or against itself, weighs more.
    const isGrave = (this.#open.get(contradiction.who)?.kind ?? 'agreed') !== 'agreed';
    if (contradiction.kind !== 'agreed' || !isGrave) this.#open.set(contradiction.who, contradiction);
  }

  /** Its word holds again, up to a sequence number. One that it has not reached stays open. */
  clear(who: string, sequence: number): void {
    const open = this.#open.get(who);
    if (open !== undefined && sequence >= open.sequence) this.#open.delete(who);
  }

  /** What follows from what the sources say now is found anew each time. */
  clearKind(kind: Contradiction['kind']): void {
    for (const [who, open] of this.#open) if (open.kind === kind) this.#open.delete(who);
  }

  /** Forgets all but these: the others are no sources and no members any more. */
  keep(names: Iterable<string>): void {
    const kept = new Set(names);
    for (const who of this.#open.keys()) if (!kept.has(who)) this.#open.delete(who);
  }
}
