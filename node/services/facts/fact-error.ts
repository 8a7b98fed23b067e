import type { Fact } from '../../../protocol/statement/vocabulary.ts';

/** No mirror gave a fact in a form that can be read. */
export class FactError extends Error {
  override readonly name = 'FactError';
  readonly fact: Fact;

  constructor(fact: Fact, cause: unknown) {
    super(`no mirror gives ${fact}`, { cause });
    this.fact = fact;
  }
}
