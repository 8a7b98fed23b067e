import type { Logger } from 'pino';
import { SIGN_IN_HOURS } from '../../../protocol/api/sign-ins.ts';
import { type Timestamp, timestampOf } from '../../../protocol/time.ts';
import { KeyedLock } from '../../concurrency/keyed-lock.ts';
import { PeriodicTask } from '../../concurrency/periodic-task.ts';
import type { Operation } from '../../store/operation.ts';
import type { Store } from '../../store/store.ts';
import { AccountError } from '../account-error.ts';
import { type Actor, signInEvent } from '../account-event.ts';
import type { AccountEvents, AccountStore } from '../account-store.ts';
import type { ApiKeys } from '../api-keys.ts';
import type { Caller } from '../caller.ts';
import { isKeyId } from '../key-id.ts';
import { reachesAllOf } from '../key-terms.ts';
import type { KeyInForce } from '../known-keys.ts';
import type { MailedKey } from '../lost-key/lost-keys.ts';
import {
  accountSignInTable,
  type HeldSignIn,
  isSignInSecret,
  newSignInId,
  newSignInSecret,
  type SignIn,
  signInDigest,
  signInOperations,
  signInRemoval,
  signInTable,
} from './sign-in-table.ts';

/** Sign-ins of one account at the same time. Over it, the oldest ends. */
export const MAX_SIGN_INS = 100;
const HOUR_MS = 3_600_000;
/** How often those that are over are removed. In milliseconds. */
const SWEEP_MS = HOUR_MS;

export interface SignInsOptions {
  readonly store: Store;
  readonly accountStore: AccountStore;
  readonly keys: Pick<ApiKeys, 'revoke'>;
  /** Writes rows together with their events in the audit log: all or nothing. */
  readonly record: (events: AccountEvents, operations: readonly Operation[]) => Promise<void>;
  /**
   * When the copy was taken that this store comes from; null where it is none. Sign-ins that are as old may have ended
   * since, and the copy does not know.
   */
  readonly copiedAt: Timestamp | null;
  readonly log: Logger;
}

/** Somebody who is signed in, and as whom the API answers them: as the key that they came with. */
export interface SignedIn extends KeyInForce {
  readonly signIn: SignIn;
  readonly secret: string;
}

/**
 * Who is signed in at the console of this node.
 *
 * A sign-in is worth no more than the key that it was made with: it may do what that key may now, from where the key is
 * taken, and ends with it, however the key ends. Its secret has 256 bits, is made anew each time and is in no row. A
 * change lands with its line in the account's log in one atomic write, one change of an account after another.
 *
 * Crash order: the key of who came by mail is for one sign-in, and is revoked before the row of that is removed.
 */
export class SignIns implements AsyncDisposable {
  readonly #options: SignInsOptions;
  readonly #locks = new KeyedLock<string>();
  readonly #sweeps: PeriodicTask<void>;

  private constructor(options: SignInsOptions) {
    this.#options = options;
    this.#sweeps = new PeriodicTask(SWEEP_MS, () => this.#sweep());
  }

  /** Ends those that an older copy of the store brought back. */
  static async open(options: SignInsOptions): Promise<SignIns> {
    const signIns = new SignIns(options);
    const copiedAt = options.copiedAt === null ? Number.NEGATIVE_INFINITY : Date.parse(options.copiedAt);
    await signIns.#remove(({ createdAt }) => Date.parse(createdAt) <= copiedAt);
    return signIns;
  }

  /** Begins to remove the rows of those that are over. */
  start(): void {
    this.#sweeps.start();
  }

  /**
   * Signs in whoever has shown a key, or came by a mailed link (`mailed`): the secret is in the answer and nowhere else.
   */
  create(
    { account, key }: Caller,
    address: string,
    mailed?: Pick<MailedKey, 'holder' | 'secondFactor'>,
  ): Promise<{ readonly secret: string; readonly signIn: SignIn }> {
    return this.#locks.exclusive(account.id, async () => {
      const { accountStore, record } = this.#options;
      if (!isKeyId(key.id)) throw new RangeError(`nobody signs in by ${key.id}`);
      const now = accountStore.now();
      const signIn = {
        id: newSignInId(accountStore.node, now),
        account: account.id,
        key: key.id,
        ...(mailed === undefined ? {} : { holder: mailed.holder }),
        ...(mailed?.secondFactor === undefined || mailed.secondFactor === null
          ? {}
          : { secondFactor: mailed.secondFactor }),
        address,
        createdAt: timestampOf(now),
        expiresAt: timestampOf(now + SIGN_IN_HOURS * HOUR_MS),
      };
      const secret = newSignInSecret();
      const freed = await this.#spaceFor(account.id);
      for (const held of freed) await this.#endMailedKey(held.signIn);
      await record(
        [
          signInEvent('sign-in.created', signIn, { key: key.id }),
          ...freed.map((held) => signInEvent('sign-in.ended', held.signIn, 'node')),
        ],
        [...freed.flatMap(signInRemoval), ...signInOperations({ digest: signInDigest(secret), signIn })],
      );
      return { secret, signIn };
    });
  }

  /** Who shows this secret; undefined where it is none, is over, or its key is not in force any more. */
  async find(secret: string): Promise<SignedIn | undefined> {
    const { store, accountStore } = this.#options;
    if (!isSignInSecret(secret)) return undefined;
    const signIn = await signInTable.get(store, signInDigest(secret));
    if (signIn === undefined || Date.parse(signIn.expiresAt) <= accountStore.now()) return undefined;
    const found = await accountStore.keyInForce(signIn.account, signIn.key);
    return found === undefined ? undefined : { ...found, signIn, secret };
  }

  /** Of an account, the newest first: those that are not over, and whose key is in force. */
  async list(account: string): Promise<readonly SignIn[]> {
    const { accountStore } = this.#options;
    const all = (await this.#all(account)).map(({ signIn }) => signIn);
    const inForce = new Map<string, boolean>();
    for (const key of new Set(all.map((signIn) => signIn.key))) {
      inForce.set(key, (await accountStore.keyInForce(account, key)) !== undefined);
    }
    const now = accountStore.now();
    return all.filter(({ key, expiresAt }) => inForce.get(key) === true && Date.parse(expiresAt) > now).toReversed();
  }

  /**
   * Ends one of an account, for good; false where there is none of this id. Throws `AccountError` `beyond-maker` where it
   * reaches further than the key that asks.
   */
  end(account: string, id: string, actor: Actor): Promise<boolean> {
    return this.#locks.exclusive(account, async () => {
      const held = (await this.#all(account)).find(({ signIn }) => signIn.id === id);
      if (held === undefined) return false;
      if (typeof actor !== 'string') await this.#requireWithin(held.signIn, actor.key);
      await this.#endMailedKey(held.signIn);
      await this.#options.record([signInEvent('sign-in.ended', held.signIn, actor)], signInRemoval(held));
      return true;
    });
  }

  async #requireWithin({ account, key }: SignIn, asker: string): Promise<void> {
    if (key === asker) return;
    const { accountStore } = this.#options;
    const theirs = await accountStore.keyInForce(account, key);
    const own = await accountStore.keyInForce(account, asker);
    if (theirs === undefined || (own !== undefined && reachesAllOf(own.caller.key, theirs.caller.key))) return;
    throw new AccountError('beyond-maker', 'the sign-in reaches further than the key that asks');
  }

  async #endMailedKey({ account, key, holder }: SignIn): Promise<void> {
    const { accountStore, keys } = this.#options;
    if (holder === undefined || (await accountStore.keyInForce(account, key)) === undefined) return;
    await keys.revoke(account, key, 'node');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sweeps[Symbol.asyncDispose]();
  }

  /** Oldest first. */
  async #all(account: string): Promise<HeldSignIn[]> {
    const { store } = this.#options;
    const held: HeldSignIn[] = [];
    for await (const [, digest] of accountSignInTable.under(store, [account])) {
      const signIn = await signInTable.get(store, digest);
      if (signIn !== undefined) held.push({ digest, signIn });
    }
    return held;
  }

  async #spaceFor(account: string): Promise<readonly HeldSignIn[]> {
    const all = await this.#all(account);
    return all.slice(0, Math.max(0, all.length - MAX_SIGN_INS + 1));
  }

  /** Never rejects. */
  async #sweep(): Promise<void> {
    const { accountStore, log } = this.#options;
    const now = accountStore.now();
    await this.#remove(({ expiresAt }) => Date.parse(expiresAt) <= now).catch((error: unknown) => {
      log.warn({ err: error }, 'sign-ins that are over were not removed');
    });
  }

  async #remove(isOver: (signIn: SignIn) => boolean): Promise<void> {
    const { store } = this.#options;
    for await (const [[digest = ''], signIn] of signInTable.under(store, [])) {
      if (isOver(signIn)) await store.write(signInRemoval({ digest, signIn }));
    }
  }
}
