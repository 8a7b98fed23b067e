/** Warnings that are told one by one. */
const MAX_WARNINGS = 20;

/** The first warnings of a batch, each named by its item (`records[17].extra: …`), and how many more there are. */
export class BatchWarnings {
  readonly #list: string;
  readonly #first: string[] = [];
  #more = 0;

  /** `list`: name of the member that the items stand in; empty where the body is the list. */
  constructor(list: string) {
    this.#list = list;
  }

  add(index: number, warnings: readonly string[]): void {
    for (const warning of warnings) {
      if (this.#first.length < MAX_WARNINGS) this.#first.push(`${this.#list}[${index}].${warning}`);
      else this.#more++;
    }
  }

  get all(): readonly string[] {
    return this.#more === 0 ? this.#first : [...this.#first, `${this.#more} more of this kind`];
  }
}
