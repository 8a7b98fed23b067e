import type { Logger } from 'pino';
import { DEFAULT_SHARE_DAYS, MAX_SHARE_DAYS } from '../../../protocol/api/shares.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { readRfc3339, TimeError, timestampOf } from '../../../protocol/time.ts';
import { KeyedLock } from '../../concurrency/keyed-lock.ts';
import { PeriodicTask } from '../../concurrency/periodic-task.ts';
import { randomBytesPooled } from '../../keys/randomness.ts';
import { ULID_RANDOM_BYTES, ulid } from '../../records/record-id.ts';
import type { Operation } from '../../store/operation.ts';
import type { Store } from '../../store/store.ts';
import { AccountError } from '../account-error.ts';
import type { AccountStore } from '../account-store.ts';
import { keyState } from '../api-key.ts';
import { newShareToken, type Share, shareDigest, shareStatus, shareTable, shareTokenTable } from './share-tables.ts';

const DAY_MS = 86_400_000;
/** Links of an account that have not ended, and those that ended within `KEPT_MS`. */
const MAX_SHARES = 1_000;
/** How long a link that has ended stays in the list. In milliseconds. */
const KEPT_MS = 30 * DAY_MS;
const SWEEP_MS = 3_600_000;

/** What a link is asked for. */
export interface ShareRequest {
  readonly record: Pick<AttestationRecord, 'id' | 'sourceId' | 'submittedAt'>;
  /** RFC 3339. */
  readonly expiresAt?: string | undefined;
  readonly disclosure?: boolean | undefined;
  readonly label?: string | undefined;
}

export interface SharesOptions {
  readonly store: Store;
  readonly accountStore: AccountStore;
  readonly node: NodeId;
  readonly log: Logger;
}

/** Links by which somebody without an account is given the bundle of one record, until they end. */
export class Shares implements AsyncDisposable {
  readonly #options: SharesOptions;
  readonly #locks = new KeyedLock();
  readonly #sweeps: PeriodicTask<void>;

  constructor(options: SharesOptions) {
    this.#options = options;
    this.#sweeps = new PeriodicTask(SWEEP_MS, () => this.#sweep());
  }

  /** Begins to remove the rows of links that ended long ago. */
  start(): void {
    this.#sweeps.start(SWEEP_MS);
  }

  /**
   * Makes a link; its token is shown once. `madeBy`: id of the key that asks. Throws `AccountError` `terms-invalid`,
   * `too-many-shares`.
   */
  make(
    account: string,
    madeBy: string,
    { record, expiresAt, disclosure = false, label }: ShareRequest,
  ): Promise<{ readonly share: Share; readonly token: string }> {
    const { store, accountStore, node } = this.#options;
    const now = accountStore.now();
    const end = endOf(expiresAt, now);
    return this.#locks.exclusive(account, async () => {
      if ((await this.list(account)).length >= MAX_SHARES) {
        throw new AccountError('too-many-shares', `an account has at most ${MAX_SHARES} links`);
      }
      const token = newShareToken();
      const share: Share = {
        id: `shr_${node}_${ulid(now, randomBytesPooled(ULID_RANDOM_BYTES))}`,
        account,
        record: record.id,
        sourceId: record.sourceId,
        submittedAt: record.submittedAt,
        disclosure,
        label: label ?? null,
        madeBy,
        digest: shareDigest(token),
        createdAt: timestampOf(now),
        expiresAt: timestampOf(end),
        revokedAt: null,
      };
      await store.write([
        shareTable.put([account, share.id], share),
        shareTokenTable.put([share.digest], `${account}/${share.id}`),
      ]);
      return { share, token };
    });
  }

  /** The links of an account, oldest first; those that ended are kept for a while. */
  async list(account: string): Promise<readonly Share[]> {
    const shares: Share[] = [];
    for await (const [, share] of shareTable.under(this.#options.store, [account])) shares.push(share);
    return shares;
  }

  /**
   * Ends a link at once; one that has ended stays as it is. `maySee`: whether the key that asks sees the link. Throws
   * `AccountError` `share-not-found`.
   */
  revoke(account: string, id: string, maySee: (share: Share) => boolean): Promise<Share> {
    const { store, accountStore } = this.#options;
    return this.#locks.exclusive(account, async () => {
      const share = await shareTable.get(store, account, id);
      if (share === undefined || !maySee(share)) {
        throw new AccountError('share-not-found', `the account has no link ${id}`);
      }
      const now = accountStore.now();
      if (shareStatus(share, now) !== 'active') return share;
      const revoked = { ...share, revokedAt: timestampOf(now) };
      await store.write([shareTable.put([account, id], revoked)]);
      return revoked;
    });
  }

  /** The link of a token that works. Throws `AccountError` `link-invalid`, the same whatever it is that ended it. */
  async open(token: string): Promise<Share> {
    const { store, accountStore } = this.#options;
    const place = await shareTokenTable.get(store, shareDigest(token));
    const [account = '', id = ''] = place?.split('/') ?? [];
    const share = await shareTable.get(store, account, id);
    const maker = share && (await accountStore.findKey(account, share.madeBy));
    const now = accountStore.now();
    const works = share !== undefined && shareStatus(share, now) === 'active';
    if (works && maker !== undefined && keyState(maker.key, now) === 'active') return share;
    throw new AccountError('link-invalid', 'the link has ended, was revoked, or never was one');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sweeps[Symbol.asyncDispose]();
  }

  async #sweep(): Promise<void> {
    const { store, accountStore, log } = this.#options;
    try {
      const outdated: Operation[] = [];
      const before = accountStore.now() - KEPT_MS;
      for await (const [parts, { digest, expiresAt, revokedAt }] of shareTable.under(store, [])) {
        if (Date.parse(revokedAt ?? expiresAt) > before) continue;
        outdated.push(shareTable.del(...parts), shareTokenTable.del(digest));
      }
      if (outdated.length > 0) await store.write(outdated);
    } catch (error) {
      log.warn({ err: error }, 'links that ended long ago were not removed');
    }
  }
}

/** In epoch milliseconds. Throws `AccountError` `terms-invalid` on a time that is none, has passed or lies too far ahead. */
function endOf(text: string | undefined, now: number): number {
  if (text === undefined) return now + DEFAULT_SHARE_DAYS * DAY_MS;
  let at: number;
  try {
    at = readRfc3339(text);
  } catch (error) {
    if (!(error instanceof TimeError)) throw error;
    throw new AccountError('terms-invalid', 'must be an RFC 3339 time', 'expiresAt');
  }
  if (at <= now) throw new AccountError('terms-invalid', 'has passed', 'expiresAt');
  if (at <= now + MAX_SHARE_DAYS * DAY_MS) return at;
  throw new AccountError('terms-invalid', `lies more than ${MAX_SHARE_DAYS} days ahead`, 'expiresAt');
}
