import type { Logger } from 'pino';
import { homeOf } from '../../../protocol/accounts/account-id.ts';
import { encodeBase64url } from '../../../protocol/bytes.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { type NodeId, nodeId, type RecordId } from '../../../protocol/ids.ts';
import { backoffDelay } from '../../concurrency/backoff.ts';
import type { OpenedPayload } from '../../records/payload/payload-cipher.ts';
import { recordIndex } from '../../records/record-tables.ts';
import type { Operation } from '../../store/operation.ts';
import type { Reads } from '../../store/store.ts';
import { TimeSlices } from '../../concurrency/time-slices.ts';
import { AutoResetEvent } from '../../concurrency/auto-reset-event.ts';
import { type AccountVersions, type KnownVersions, namedBy } from './account-versions.ts';
import { wantedStatementTable } from './held-statement-tables.ts';
import { type HeldStatements, type HeldVersion, lastUpTo, STATEMENT_BOUNDS } from './held-statements.ts';
import { judgeStatement, MAX_HELD_STATEMENT_BYTES } from './statement-check.ts';

export interface StatementFollowerOptions {
  readonly self: NodeId;
  readonly store: Reads;
  readonly versions: Pick<AccountVersions, 'of'>;
  readonly held: HeldStatements;
  /** Asks a member for the payload of a version. */
  readonly ask: (id: RecordId, member: NodeId) => Promise<OpenedPayload | undefined>;
  /** Members that can be asked now. */
  readonly connected: () => readonly NodeId[];
  /** A member gave a payload that is not the one its home signed. Must not throw. */
  readonly onForged: (member: NodeId) => void;
  /** What is known of keys may have changed. Must not throw. */
  readonly onChange: () => void;
  /** In [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
}

/** Pause where nothing is lacking, in milliseconds. */
const IDLE_MS = 60_000;
/** Accounts whose versions are asked for side by side. */
const TOGETHER = 8;
/** Wanted versions that are tried again in one round: what a home makes this node try is bounded. */
const MAX_TRIES = 32;
/** Members that are asked for one version, one after the other. */
const MAX_ASKED = 8;
/** Accounts that are remembered as fresh; more of them are found by their rows. */
const MAX_FRESH = 10_000;

/** What there is to keep of an account's versions, before anything is written. */
interface Findings {
  readonly home: NodeId;
  readonly account: string;
  readonly newest: AttestationRecord | undefined;
  readonly kept: readonly HeldVersion[];
  /**
   * `lacking`: a payload may still come. `open`: the newest version is not decided. `over`: nothing more is awaited.
   */
  readonly state: 'lacking' | 'open' | 'over';
}

interface Tally {
  lacking: number;
  /** Accounts of which a version came. */
  came: number;
}

/**
 * Gets the statements of accounts of other nodes that name this one (protocol §5): as soon as the record of a version
 * arrives, and with back-off until somebody has given it, first its home, then the others that it names. What was given
 * is checked against the record that the home signed. The newest version that is held is kept, and the newest decided
 * one.
 *
 * Crash order: a version's record lands with the row by which it is wanted. The row goes in the write after which
 * nothing is missing and the version is decided, or a newer one is wanted instead. So whatever stops in between, what
 * is lacking is known at the next start.
 *
 * Ownership: rows of statements are written by the loop alone, account by account.
 */
export class StatementFollower implements AsyncDisposable {
  readonly #options: StatementFollowerOptions;
  readonly #wake = new AutoResetEvent();
  readonly #ending = new AbortController();
  /** Accounts of which a version has just arrived. */
  readonly #fresh = new Set<string>();
  /** Homes of which something was decided or replaced. */
  readonly #moved = new Set<NodeId>();
  /** Homes of which a version is wanted, and others perhaps; undefined until the store was looked at. */
  #wanted: Set<NodeId> | undefined;
  /** Homes of which no more is taken, so that the log was told. */
  readonly #full = new Set<NodeId>();
  /** Row behind which wanted versions are tried again; undefined: from the first. */
  #after: readonly [home: string, account: string, seq: number] | undefined;
  /** Whether anything was lacking since that began at the first row. */
  #isLacking = false;
  #failures = 0;
  #loop: Promise<void> | undefined;

  constructor(options: StatementFollowerOptions) {
    this.#options = options;
  }

  /** Rows that go into the write of what another node records. */
  rowsOf(records: readonly AttestationRecord[]): readonly Operation[] {
    return this.#versionsAmong(records).map(({ node, account, seq, id }) =>
      wantedStatementTable.put([node, account, seq], id),
    );
  }

  /** Told of it once it is on the disk. */
  onWritten(records: readonly AttestationRecord[]): void {
    const versions = this.#versionsAmong(records);
    if (versions.length === 0 && !records.some(({ kind }) => kind === 'account_key_refused')) return;
    for (const { node, account } of versions) {
      this.#wanted?.add(node);
      if (this.#fresh.size < MAX_FRESH) this.#fresh.add(account);
      else this.#moved.add(node);
    }
    this.#options.onChange();
    this.#wake.notify();
  }

  /** The log decided a batch of a node, or another batch took the place of one that was held. */
  noteMoved(node: NodeId): void {
    if (this.#wanted?.has(node) === false) return;
    this.#moved.add(node);
    this.#options.onChange();
    this.#wake.notify();
  }

  /** A member came: it may have what is lacking. */
  noteConnected(): void {
    this.#wake.notify();
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  /** Ends once what is being asked for has come or not. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) await this.#wake.wait(await this.#pass(), signal);
  }

  /** Resolves to the pause before the next one, in milliseconds. */
  async #pass(): Promise<number> {
    const { random, log } = this.#options;
    try {
      this.#wanted ??= await this.#homes();
      const [fresh, moved] = [[...this.#fresh], [...this.#moved]];
      this.#fresh.clear();
      this.#moved.clear();
      const { lacking } = await this.#settleAll(fresh, true);
      if (lacking > 0) this.#isLacking = true;
      for (const home of moved) await this.#look(home);
      return await this.#tryAgain();
    } catch (error) {
      log.error({ err: error }, 'statements of accounts could not be looked at; trying again');
      return backoffDelay(this.#failures++, random());
    }
  }

  /** Looks at what was wanted of a home, and asks nobody. */
  async #look(home: NodeId): Promise<void> {
    const accounts = new Set<string>();
    // Before the look, so that what arrives meanwhile is not forgotten.
    this.#wanted?.delete(home);
    for await (const [[account = '']] of wantedStatementTable.under(this.#options.store, [home])) accounts.add(account);
    if (accounts.size > 0) this.#wanted?.add(home);
    await this.#settleAll([...accounts], false);
  }

  /** Asks for the next of the versions that are wanted. Resolves to the pause before more are asked for. */
  async #tryAgain(): Promise<number> {
    const { store, random } = this.#options;
    const accounts = new Set<string>();
    let tried = 0;
    for await (const [home, account, seq] of wantedAfter(store, this.#after)) {
      if (tried === MAX_TRIES) break;
      tried++;
      accounts.add(account);
      this.#after = [home, account, seq];
    }
    const isPassOver = tried < MAX_TRIES;
    const { lacking, came } = await this.#settleAll([...accounts], true);
    this.#isLacking ||= lacking > 0;
    if (came > 0) this.#failures = 0;
    if (!isPassOver && (lacking === 0 || came > 0)) return 0;
    if (!isPassOver) return backoffDelay(this.#failures++, random());
    this.#after = undefined;
    const pause = this.#isLacking ? backoffDelay(this.#failures++, random()) : IDLE_MS;
    this.#isLacking = false;
    return pause;
  }

  /** Asks for several at a time, and writes one after the other. */
  async #settleAll(accounts: readonly string[], mayAsk: boolean): Promise<Tally> {
    const tally: Tally = { lacking: 0, came: 0 };
    const slices = new TimeSlices();
    for (let at = 0; at < accounts.length && !this.#ending.signal.aborted; at += TOGETHER) {
      if (slices.isOver) await slices.rest();
      const findings = await Promise.all(
        accounts.slice(at, at + TOGETHER).map((account) => this.#find(account, mayAsk)),
      );
      for (const found of findings) if (found !== undefined) await this.#settle(found, tally);
    }
    return tally;
  }

  async #find(account: string, mayAsk: boolean): Promise<Findings | undefined> {
    const { self, versions, held } = this.#options;
    const home = homeOf(account);
    if (home === undefined || home === self) return undefined;
    const known = await versions.of(account);
    const have = await held.of(home, account);
    if (known === undefined) return { home, account, newest: undefined, kept: [], state: 'over' };
    const { newest, decided } = known;
    const isOpen = decided?.id !== newest.id;
    // Until it is decided that this node is named no more, what a fork may bring back is kept.
    if (!namedBy(newest).includes(self)) {
      const kept = isOpen && decided !== undefined ? have.filter(({ seq }) => seq <= decided.seq).slice(-1) : [];
      return { home, account, newest, kept, state: kept.length > 0 ? 'open' : 'over' };
    }
    const wanted = wantedOf(known, self).filter(({ id }) => !have.some((version) => version.id === id));
    const got = mayAsk
      ? await Promise.all(wanted.map((record) => this.#get(record, have)))
      : wanted.map(() => undefined);
    // What cannot be gone by ends the keys that are stated before it: it may be what revokes them.
    if (got.includes('never')) return { home, account, newest, kept: [], state: 'over' };
    const all = [...have, ...got.filter((each) => each !== undefined && each !== 'never')].toSorted(
      (a, b) => a.seq - b.seq,
    );
    const kept = new Set([lastUpTo(all, decided?.seq ?? 0), lastUpTo(all, newest.seq)]);
    const isLacking = got.some((each) => each === undefined);
    const state = isLacking ? 'lacking' : isOpen ? 'open' : 'over';
    return { home, account, newest, kept: [...kept].filter((version) => version !== undefined), state };
  }

  async #settle({ home, account, newest, kept, state }: Findings, tally: Tally): Promise<void> {
    const { store, held, onChange } = this.#options;
    const rows: Operation[] = [];
    for await (const [[part = ''], id] of wantedStatementTable.under(store, [home, account])) {
      const seq = Number(part);
      // One that has come meanwhile is not among what was looked at.
      const isLookedAt = newest !== undefined && (seq < newest.seq || (seq === newest.seq && state === 'over'));
      const isDropped = (await recordIndex.get(store, id)) !== seq;
      if (isLookedAt || isDropped) rows.push(wantedStatementTable.del(home, account, seq));
    }
    const hasChanged = await held.keep(home, account, kept, rows);
    if (hasChanged) onChange();
    if (state === 'lacking') tally.lacking++;
    if (hasChanged && kept.length > 0) tally.came++;
  }

  /** `never` where it is not to be asked for any more: it cannot be gone by, or there is no room for it. */
  async #get(record: AttestationRecord, have: readonly HeldVersion[]): Promise<HeldVersion | 'never' | undefined> {
    const { self, ask, connected, onForged, log } = this.#options;
    const { id, node: home, account, seq } = record;
    if (!this.#hasCapacity(home, have.length === 0)) return 'never';
    const able = connected().filter((member) => member !== self && namedBy(record).includes(member));
    const members = [...able.filter((member) => member === home), ...able.filter((member) => member !== home)];
    for (const member of members.slice(0, MAX_ASKED)) {
      if (this.#ending.signal.aborted) return undefined;
      const given = await ask(id, member);
      const word = given && judgeStatement(record, given);
      if (given !== undefined && word === 'holds') {
        return { id, seq, salt: encodeBase64url(given.salt), text: given.text };
      }
      if (word === 'unusable') {
        log.error({ account, id }, 'the home of an account made a statement that cannot be gone by: it is left out');
        return 'never';
      }
      if (word === 'forged') {
        onForged(member);
        log.warn({ account, id, member }, 'a member gave another statement than the home of the account signed');
      }
    }
    return undefined;
  }

  #hasCapacity(home: NodeId, isNew: boolean): boolean {
    const { held, log } = this.#options;
    const hasCapacity = held.hasCapacity(home, isNew, MAX_HELD_STATEMENT_BYTES);
    if (hasCapacity) this.#full.delete(home);
    else if (!this.#full.has(home)) {
      this.#full.add(home);
      log.error(
        { home, bounds: STATEMENT_BOUNDS },
        'as many statements of accounts of a node are held as may be: no more are taken',
      );
    }
    return hasCapacity;
  }

  /** Versions that the homes of accounts made, other than this node. */
  #versionsAmong(records: readonly AttestationRecord[]): readonly AttestationRecord[] {
    const { self } = this.#options;
    return records.filter(({ kind, node, account }) => kind === 'account' && node !== self && homeOf(account) === node);
  }

  async #homes(): Promise<Set<NodeId>> {
    const homes = new Set<NodeId>();
    for await (const [home] of wantedAfter(this.#options.store, undefined)) homes.add(nodeId(home));
    return homes;
  }
}

/** The versions that are to be held where the newest names this node: it, and the newest decided one. */
function wantedOf({ newest, decided }: KnownVersions, self: NodeId): readonly AttestationRecord[] {
  const isOther = decided !== undefined && decided.id !== newest.id && namedBy(decided).includes(self);
  return isOther ? [decided, newest] : [newest];
}

/** Wanted versions behind one, in order of their rows. */
async function* wantedAfter(
  store: Reads,
  after: readonly [home: string, account: string, seq: number] | undefined,
): AsyncGenerator<[home: string, account: string, seq: number]> {
  const prefix = `${wantedStatementTable.name}/`;
  const gt = after === undefined ? prefix : wantedStatementTable.key(...after);
  for await (const [key] of store.range({ gt, lt: `${prefix}\u{10ffff}` })) {
    const [home = '', account = '', seq = ''] = key.slice(prefix.length).split('/');
    yield [home, account, Number(seq)];
  }
}
