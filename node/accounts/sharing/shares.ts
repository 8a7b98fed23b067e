import type { Logger } from 'pino';
import type { ShareId, ShareRequest, ShareStatus } from '../../../protocol/api/shares.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { type Timestamp, timestampOf } from '../../../protocol/time.ts';
import { KeyedLock } from '../../concurrency/keyed-lock.ts';
import { PeriodicTask } from '../../concurrency/periodic-task.ts';
import { IDEMPOTENCY_MS } from '../../intake/idempotency.ts';
import { IntakeError } from '../../intake/intake-error.ts';
import type { Operation } from '../../store/operation.ts';
import type { Store } from '../../store/store.ts';
import { AccountError } from '../account-error.ts';
import { type Actor, shareEvent } from '../account-event.ts';
import type { AccountEvents, AccountStore } from '../account-store.ts';
import { type Caller, covers, reaches } from '../caller.ts';
import { isKeyId } from '../key-id.ts';
import { LimitError, rateHeaders, retryAfter } from '../limits/limit-error.ts';
import { MINUTE_MS, SlidingWindow } from '../limits/sliding-window.ts';
import {
  accountShareTable,
  derivedShareToken,
  type HeldShare,
  newShareId,
  newShareToken,
  type Share,
  shareDigest,
  shareOperations,
  shareRemoval,
  shareStatus,
  shareTable,
} from './share-table.ts';
import { DAY_MS, shareEnd } from './share-terms.ts';
import { ShareUses, type Uses } from './share-uses.ts';

/** Links of one account that are kept. Over it, the one that ended longest ago makes room. */
export const MAX_SHARES = 200;
/** Times that one link is opened in any minute: each leaves a line in the account's log. */
export const OPENED_PER_MINUTE = 60;
/** How long a link that has ended is still listed. In milliseconds. */
export const ENDED_LISTED_MS = 30 * DAY_MS;
/** How often links that ended longer ago are removed. In milliseconds. */
const SWEEP_MS = 3_600_000;
/** Links whose last minute is kept apart. */
const MAX_OPENED = 20_000;
/** Whose link a secret is that is none: of nobody, so that as much is looked up as of one that was. */
const NOBODY = { account: 'nobody', key: 'none' };

export interface SharesOptions {
  readonly store: Store;
  readonly accountStore: AccountStore;
  /** Writes rows together with their events in the audit log: all or nothing. */
  readonly record: (events: AccountEvents, operations: readonly Operation[]) => Promise<void>;
  /** 32 bytes from the node's key file. */
  readonly payloadKey: Uint8Array;
  /**
   * When the copy was taken that this store comes from; null where it is none. Links that are as old may have been
   * revoked since, and the copy does not know.
   */
  readonly copiedAt: Timestamp | null;
  readonly log: Logger;
  /** A steady clock in milliseconds. */
  readonly steady?: () => number;
}

/** A new link and its secret, which is shown once and is nowhere afterwards. */
export interface IssuedShare extends ListedShare {
  readonly token: string;
}

/** A link that works, and who is asked in its name: the key that made it. */
export interface OpenedShare extends HeldShare {
  readonly caller: Caller;
}

/** A link and what it is worth now. */
export interface ListedShare {
  readonly share: Share;
  readonly status: ShareStatus;
}

/** An `Idempotency-Key`, and hashes of it and of the request that it came with. */
export interface ShareOnce {
  readonly text: string;
  readonly key: string;
  readonly request: string;
}

/**
 * Links by which an account shows the bundle of one record to whoever has the link, for a while.
 *
 * A link is worth no more than the key that made it: it gives what that key may have now, and ends with it, however the
 * key ends. Its secret has 256 bits and is in no row. A change lands with its line in the account's log in one atomic
 * write, one change of an account after another.
 */
export class Shares implements AsyncDisposable {
  readonly #options: SharesOptions;
  readonly #locks = new KeyedLock<string>();
  readonly #uses: ShareUses;
  readonly #opened = new SlidingWindow({ windowMs: MINUTE_MS, maxSubjects: MAX_OPENED });
  readonly #steady: () => number;
  readonly #sweeps: PeriodicTask<void>;

  private constructor(options: SharesOptions) {
    this.#options = options;
    this.#steady = options.steady ?? (() => performance.now());
    this.#uses = new ShareUses({
      write: (digest, uses) => this.#addUses(digest, uses),
      onFailure: (error) => options.log.warn({ err: error }, 'uses of a link that shares a bundle were not written'),
    });
    this.#sweeps = new PeriodicTask(SWEEP_MS, () => this.#sweep());
  }

  /** Ends the links that an older copy of the store brought back. */
  static async open(options: SharesOptions): Promise<Shares> {
    const shares = new Shares(options);
    await shares.#endCopied();
    return shares;
  }

  /** Begins to remove the rows of links that ended long ago. */
  start(): void {
    this.#sweeps.start();
  }

  /**
   * Makes a link to the bundle of a record that the caller may have. The same `once` is answered as the first time.
   * Throws `AccountError`: `terms-invalid`, `beyond-maker`, `maker-ended`, `too-many-shares`; `IntakeError`
   * `idempotency-conflict`.
   */
  create(
    { account, key }: Caller,
    request: ShareRequest,
    subject: Pick<AttestationRecord, 'id' | 'sourceId' | 'submittedAt'>,
    once?: ShareOnce,
  ): Promise<IssuedShare> {
    return this.#locks.exclusive(account.id, async () => {
      const { accountStore, record } = this.#options;
      const now = accountStore.now();
      const all = await this.#all(account.id);
      const again = once && this.#again(all, once, now);
      if (again !== undefined) return again;
      const maker = await accountStore.keyInForce(account.id, key.id);
      if (maker === undefined || !isKeyId(key.id)) {
        throw new AccountError('maker-ended', 'the API key was revoked or has expired');
      }
      const expiresAt = shareEnd(request, maker.endsAt, now);
      const freed = await this.#makeSpace(all, now);
      const id = newShareId(accountStore.node, now);
      const token = once ? derivedShareToken(this.#options.payloadKey, id, once.text) : newShareToken();
      const share: Share = {
        id,
        account: account.id,
        record: subject.id,
        sourceId: subject.sourceId,
        submittedAt: subject.submittedAt,
        key: key.id,
        disclosure: request.disclosure ?? false,
        linked: request.linked ?? false,
        label: request.label ?? null,
        createdAt: timestampOf(now),
        expiresAt,
        revokedAt: null,
        uses: 0,
        lastUsedAt: null,
        ...(once === undefined ? {} : { once: { key: once.key, request: once.request } }),
      };
      const operations = [...freed, ...shareOperations({ digest: shareDigest(token), share })];
      await record([shareEvent('share.created', share, { key: key.id })], operations);
      return { token, share, status: 'active' };
    });
  }

  /** The links of an account that are kept, to records that the caller's key may see; oldest first. */
  async list({ account, key }: Caller): Promise<ListedShare[]> {
    await this.#uses.settled();
    const all = (await this.#all(account.id)).filter(({ share }) => maySee(key, share));
    return this.#worth(all);
  }

  /** Ends a link now; one that was revoked stays as it is. Throws `AccountError` `share-not-found`. */
  async revoke({ account, key }: Caller, id: ShareId): Promise<ListedShare> {
    await this.#uses.settled();
    return this.#locks.exclusive(account.id, async () => {
      const { store, accountStore } = this.#options;
      const digest = await accountShareTable.get(store, account.id, id);
      const share = digest === undefined ? undefined : await shareTable.get(store, digest);
      if (digest === undefined || share === undefined || !maySee(key, share)) {
        throw new AccountError('share-not-found', `the account has no link ${id}`);
      }
      const revoked = await this.#revoke({ digest, share }, { key: key.id }, accountStore.now());
      return { share: revoked, status: 'revoked' };
    });
  }

  /**
   * Who is asked in the name of a link. What never was one, has ended or was revoked costs as many reads, and is refused
   * in the same words. Throws `AccountError` `link-invalid`, and `LimitError` for a link that is opened too often.
   */
  async enter(token: string): Promise<OpenedShare> {
    const { store, accountStore } = this.#options;
    const digest = shareDigest(token);
    const share = await shareTable.get(store, digest);
    const { account, key } = share ?? NOBODY;
    const maker = await accountStore.keyInForce(account, key);
    const isOpen = share !== undefined && shareStatus(share, maker !== undefined, accountStore.now()) === 'active';
    if (!isOpen || maker === undefined) {
      throw new AccountError('link-invalid', 'the link has ended, was revoked, or never was one');
    }
    const window = this.#opened.take(digest, OPENED_PER_MINUTE, this.#steady());
    if (window.allowed) return { digest, share, caller: maker.caller };
    const headers = { ...rateHeaders(window), ...retryAfter(window.retryAfterSeconds) };
    throw new LimitError('rate-limited', `A link is opened ${OPENED_PER_MINUTE} times a minute at most.`, headers);
  }

  /** Counts a use of a link. */
  noteUse({ digest, share }: HeldShare): void {
    this.#uses.note(digest, share.account, timestampOf(this.#options.accountStore.now()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sweeps[Symbol.asyncDispose]();
    await this.#uses[Symbol.asyncDispose]();
  }

  /** All links of an account, oldest first. Few: see `MAX_SHARES`. */
  async #all(account: string): Promise<HeldShare[]> {
    const { store } = this.#options;
    const held: HeldShare[] = [];
    for await (const [, digest] of accountShareTable.under(store, [account])) {
      const share = await shareTable.get(store, digest);
      if (share !== undefined) held.push({ digest, share });
    }
    return held;
  }

  /** The first answer to the same request. Throws `IntakeError` where the key came with another one. */
  #again(all: readonly HeldShare[], once: ShareOnce, now: number): IssuedShare | undefined {
    const found = all.find(({ share }) => share.once?.key === once.key);
    if (found === undefined || now - Date.parse(found.share.createdAt) >= IDEMPOTENCY_MS) return undefined;
    if (found.share.once?.request !== once.request) {
      throw new IntakeError('idempotency-conflict', 'the idempotency key was used with another request');
    }
    // As it was when it was made: nothing of it has changed but how it ended, and how often it was opened.
    const share: Share = { ...found.share, revokedAt: null, uses: 0, lastUsedAt: null };
    return { token: derivedShareToken(this.#options.payloadKey, share.id, once.text), share, status: 'active' };
  }

  /** What links are worth now; each key is looked up once. */
  async #worth(held: readonly HeldShare[]): Promise<ListedShare[]> {
    const { accountStore } = this.#options;
    const inForce = new Map<string, boolean>();
    const listed: ListedShare[] = [];
    for (const { share } of held) {
      const isInForce =
        inForce.get(share.key) ?? (await accountStore.keyInForce(share.account, share.key)) !== undefined;
      inForce.set(share.key, isInForce);
      listed.push({ share, status: shareStatus(share, isInForce, accountStore.now()) });
    }
    return listed;
  }

  async #makeSpace(all: readonly HeldShare[], now: number): Promise<Operation[]> {
    if (all.length < MAX_SHARES) return [];
    const worth = await this.#worth(all);
    const ended = all.filter((_held, index) => worth[index]?.status !== 'active');
    const [first] = ended.toSorted((a, b) => endedAt(a, now) - endedAt(b, now));
    if (first !== undefined) return shareRemoval(first);
    throw new AccountError('too-many-shares', `an account has at most ${MAX_SHARES} links that work; revoke one first`);
  }

  /** Within the account's lock. */
  async #revoke({ digest, share }: HeldShare, actor: Actor, now: number): Promise<Share> {
    if (share.revokedAt !== null) return share;
    const revoked: Share = { ...share, revokedAt: timestampOf(now) };
    await this.#options.record([shareEvent('share.revoked', share, actor)], [shareTable.put([digest], revoked)]);
    return revoked;
  }

  #addUses(digest: string, { account, count, lastAt }: Uses): Promise<void> {
    const { store } = this.#options;
    return this.#locks.exclusive(account, async () => {
      const share = await shareTable.get(store, digest);
      if (share === undefined) return;
      await store.write([shareTable.put([digest], { ...share, uses: share.uses + count, lastUsedAt: lastAt })]);
    });
  }

  async #endCopied(): Promise<void> {
    const { store, copiedAt, accountStore, log } = this.#options;
    if (copiedAt === null) return;
    const now = accountStore.now();
    let ended = 0;
    for await (const [[digest = ''], share] of shareTable.under(store, [])) {
      const isOld = Date.parse(share.createdAt) <= Date.parse(copiedAt);
      if (!isOld || shareStatus(share, true, now) !== 'active') continue;
      await this.#revoke({ digest, share }, 'node', now);
      ended++;
    }
    if (ended > 0) log.warn({ ended }, 'links that share bundles are as old as the copy of the store, and are ended');
  }

  async #sweep(): Promise<void> {
    const { store, accountStore, log } = this.#options;
    try {
      const before = accountStore.now() - ENDED_LISTED_MS;
      for await (const [[digest = ''], share] of shareTable.under(store, [])) {
        if (this.#sweeps.signal.aborted) return;
        if (endedAt({ digest, share }, Number.POSITIVE_INFINITY) > before) continue;
        await this.#locks.exclusive(share.account, () => store.write(shareRemoval({ digest, share })));
      }
    } catch (error) {
      log.warn({ err: error }, 'links that share bundles and ended long ago were not removed');
    }
  }
}

/** In epoch milliseconds. One that ended with its key counts as ended at `unknown`, where it would end later. */
function endedAt({ share: { expiresAt, revokedAt } }: HeldShare, unknown: number): number {
  return Math.min(Date.parse(expiresAt), revokedAt === null ? unknown : Date.parse(revokedAt));
}

function maySee(key: Caller['key'], { sourceId, submittedAt }: Share): boolean {
  return reaches(key, sourceId) && covers(key, submittedAt);
}
