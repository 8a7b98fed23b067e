import { readAccountStatement } from '../../../protocol/accounts/statement.ts';
import { type NodeId, nodeId } from '../../../protocol/ids.ts';
import type { Operation } from '../../store/operation.ts';
import type { Reads, Rows } from '../../store/store.ts';
import { recordIndex } from '../../records/record-tables.ts';
import { TimeSlices } from '../../concurrency/time-slices.ts';
import { foreignKeyTable, type HeldStatement, heldStatementTable } from './held-statement-tables.ts';

/** A held version, at its place in the chain of its home. */
export interface HeldVersion extends HeldStatement {
  readonly seq: number;
}

/** What a home can make this node keep. */
export interface StatementBounds {
  readonly accounts: number;
  /** Of texts, beyond which no further account is taken; twice as many with later versions of those that were. */
  readonly bytes: number;
}

export const STATEMENT_BOUNDS: StatementBounds = { accounts: 10_000, bytes: 64 << 20 };

/** Accounts that are kept of one key: of more that state it too, it is not theirs either. */
const MAX_CONTESTANTS = 4;
const DIGEST_AT = 'sha256:'.length;

/**
 * The versions of an account's statement that are held, oldest first. Those whose record was dropped are not among
 * them.
 */
export async function heldVersions(store: Reads, home: NodeId, account: string): Promise<HeldVersion[]> {
  const held: HeldVersion[] = [];
  for await (const [[part = ''], row] of heldStatementTable.under(store, [home, account])) {
    const seq = Number(part);
    if ((await recordIndex.get(store, row.id)) === seq) held.push({ ...row, seq });
  }
  return held;
}

/** The last of them up to a seq. */
export function lastUpTo(held: readonly HeldVersion[], seq: number): HeldVersion | undefined {
  return held.findLast((version) => version.seq <= seq);
}

/**
 * The rows of statements of accounts of other nodes, and of the keys in them, bounded for each home.
 *
 * Ownership: written by the follower alone, one `keep` after the other.
 */
export class HeldStatements {
  readonly #store: Rows;
  readonly #bounds: StatementBounds;
  readonly #sums = new Map<NodeId, { accounts: number; bytes: number }>();

  private constructor(store: Rows, bounds: StatementBounds) {
    this.#store = store;
    this.#bounds = bounds;
  }

  /** Sums up what is held: as many rows as the bounds of all homes allow. */
  static async open(store: Rows, bounds = STATEMENT_BOUNDS): Promise<HeldStatements> {
    const held = new HeldStatements(store, bounds);
    const slices = new TimeSlices();
    let last = '';
    for await (const [[home = '', account = ''], { text }] of heldStatementTable.under(store, [])) {
      if (slices.isOver) await slices.rest();
      held.#add(nodeId(home), account === last ? 0 : 1, Buffer.byteLength(text));
      last = account;
    }
    return held;
  }

  of(home: NodeId, account: string): Promise<HeldVersion[]> {
    return heldVersions(this.#store, home, account);
  }

  /** Whether there is room for so many bytes more of an account of this home, which may be a new one. */
  hasCapacity(home: NodeId, isNew: boolean, bytes: number): boolean {
    const sum = this.#sums.get(home) ?? { accounts: 0, bytes: 0 };
    if (!isNew) return sum.bytes + bytes <= 2 * this.#bounds.bytes;
    return sum.accounts < this.#bounds.accounts && sum.bytes + bytes <= this.#bounds.bytes;
  }

  /**
   * Makes these versions the only ones that are held of an account, with further rows in the same write. Resolves to
   * whether any version came or went.
   */
  async keep(
    home: NodeId,
    account: string,
    kept: readonly HeldVersion[],
    more: readonly Operation[],
  ): Promise<boolean> {
    const before = await this.#rowsOf(home, account);
    const isKept = (row: HeldVersion) => kept.some(({ id, seq }) => id === row.id && seq === row.seq);
    const gone = before.filter((row) => !isKept(row));
    const come = kept.filter(({ id, seq }) => !before.some((row) => row.id === id && row.seq === seq));
    const keys = gone.length + come.length === 0 ? [] : await this.#keyRows(account, before, kept);
    const operations = [
      ...gone.map(({ seq }) => heldStatementTable.del(home, account, seq)),
      ...come.map(({ seq, id, salt, text }) => heldStatementTable.put([home, account, seq], { id, salt, text })),
      ...keys,
      ...more,
    ];
    if (operations.length > 0) await this.#store.write(operations);
    this.#add(home, Number(kept.length > 0) - Number(before.length > 0), bytesOf(kept) - bytesOf(before));
    return gone.length + come.length > 0;
  }

  /** Those whose record was dropped too. */
  async #rowsOf(home: NodeId, account: string): Promise<HeldVersion[]> {
    const rows = heldStatementTable.under(this.#store, [home, account]);
    return Array.fromAsync(rows, ([[part = ''], row]) => ({ ...row, seq: Number(part) }));
  }

  async #keyRows(account: string, before: readonly HeldVersion[], kept: readonly HeldVersion[]): Promise<Operation[]> {
    const [old, now] = [digestsOf(before), digestsOf(kept)];
    const operations: Operation[] = [];
    for (const digest of old.symmetricDifference(now)) {
      const row = await foreignKeyTable.get(this.#store, digest);
      const others = row?.accounts.filter((other) => other !== account) ?? [];
      const accounts = (now.has(digest) ? [...others, account] : others).slice(0, MAX_CONTESTANTS);
      const contested = row?.contested === true || accounts.length > 1;
      operations.push(
        accounts.length === 0 ? foreignKeyTable.del(digest) : foreignKeyTable.put([digest], { accounts, contested }),
      );
    }
    return operations;
  }

  #add(home: NodeId, accounts: number, bytes: number): void {
    const sum = this.#sums.get(home) ?? { accounts: 0, bytes: 0 };
    this.#sums.set(home, { accounts: sum.accounts + accounts, bytes: sum.bytes + bytes });
  }
}

/** Digests of the keys that any of these versions states. */
function digestsOf(versions: readonly HeldVersion[]): Set<string> {
  const keys = versions.flatMap(({ text }) => readAccountStatement(text).keys);
  return new Set(keys.map(({ hash }) => hash.slice(DIGEST_AT)));
}

function bytesOf(versions: readonly HeldVersion[]): number {
  return versions.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
}
