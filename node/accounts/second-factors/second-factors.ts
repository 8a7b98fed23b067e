import { isMailReader, type MailReader } from '../../../protocol/api/people.ts';
import type { Logger } from 'pino';
import {
  MAX_SECOND_FACTORS,
  type SecondFactorId,
  type SecondFactorKind,
} from '../../../protocol/api/second-factors.ts';
import { type Timestamp, timestampOf } from '../../../protocol/time.ts';
import type { Operation } from '../../store/operation.ts';
import type { Store } from '../../store/store.ts';
import { AccountError } from '../account-error.ts';
import { type Actor, secondFactorEvent } from '../account-event.ts';
import type { AccountStore, Change } from '../account-store.ts';
import { LimitError, retryAfter } from '../limits/limit-error.ts';
import { SlidingWindow, type WindowState } from '../limits/sliding-window.ts';
import type { Mailer } from '../mail/mailer.ts';
import { madePasskey, passkeyChallenge, type PasskeySite, passkeySite } from './passkeys.ts';
import { passkeysOf, type Proof, proofOf, type ShownFactor } from './proof.ts';
import { newRecoveryCodes, recoveryCodeDigest } from './recovery-codes.ts';
import {
  newSecondFactorId,
  type SecondFactor,
  type SecondFactors as Held,
  secondFactorTable,
} from './second-factor-table.ts';
import { TotpSecrets, type TotpSetup } from './totp.ts';

/** What somebody who is signed in shows to change their own is judged so often in any hour: codes are not guessed. */
const TRIES = 10;
const TRIES_MS = 3_600_000;
/**
 * And so many codes may be wrong in any day beside mailed links, however many: who reads somebody's mail guesses a code
 * of six digits, of which three are right at a time, once in some forty years. A passkey is not guessed.
 */
const LINK_TRIES = 20;
const LINK_TRIES_MS = 24 * TRIES_MS;
/** Holders whose tries are kept apart. */
const MAX_TRIERS = 10_000;

/** Who has second factors. */
export interface Holder {
  readonly account: string;
  readonly holder: MailReader;
}

/** A second factor that was shown, and the rows of its use: they land in one write with what it allows. */
export interface UsedFactor {
  readonly kind: SecondFactorKind;
  readonly operations: readonly Operation[];
}

export interface SecondFactorsOptions {
  readonly store: Store;
  readonly accountStore: AccountStore;
  /** Tells where somebody reads mail; undefined for who signs in no more. */
  readonly people: {
    addressOf(account: string, reader: MailReader): Promise<string | undefined>;
    /** Throws where whoever it is reaches further than the key that asks. */
    requireWithin(account: string, by: Actor, reader: MailReader): Promise<void>;
  };
  /** 32 bytes from the node's key file. */
  readonly payloadKey: Uint8Array;
  /** When the copy was taken that this store comes from; null where it is none. */
  readonly copiedAt: Timestamp | null;
  readonly mailer: Pick<Mailer, 'send'> | null;
  /** The node's public address: passkeys are made for it. */
  readonly baseUrl: () => string;
  readonly log: Logger;
}

/**
 * What people show beside a mailed link: who reads somebody's mail is not signed in by that alone.
 *
 * A code of an app, a recovery code and an answer of a passkey are each taken once. Every change is one of the account
 * (`AccountStore.change`), so that none is judged by what another is about to change, and lands with its line in the
 * account's log; its holder is told by mail. In a restored copy recovery codes that are as old are void: some may have
 * been used since.
 */
export class SecondFactors {
  readonly #options: SecondFactorsOptions;
  readonly #secrets: TotpSecrets;
  readonly #tries = new SlidingWindow({ windowMs: TRIES_MS, maxSubjects: MAX_TRIERS });
  readonly #linkTries = new SlidingWindow({ windowMs: LINK_TRIES_MS, maxSubjects: MAX_TRIERS });

  private constructor(options: SecondFactorsOptions) {
    this.#options = options;
    this.#secrets = new TotpSecrets(options.payloadKey);
  }

  static async open(options: SecondFactorsOptions): Promise<SecondFactors> {
    const factors = new SecondFactors(options);
    if (options.copiedAt !== null) await factors.#voidRecoveryCodes(Date.parse(options.copiedAt));
    return factors;
  }

  /** Where passkeys work; null where they do not. */
  get site(): PasskeySite | null {
    return passkeySite(this.#options.baseUrl());
  }

  /** Those of an account: the owner's, then those of people, the oldest person first. */
  list(account: string): Promise<Held[]> {
    return Array.fromAsync(secondFactorTable.under(this.#options.store, [account]), ([, held]) => held);
  }

  /** Undefined for those who show nothing beside the link. */
  of({ account, holder }: Holder): Promise<Held | undefined> {
    return secondFactorTable.get(this.#options.store, account, holder);
  }

  /**
   * Judges what is shown beside a mailed link, while no other change of accounts is under way; null where the holder has
   * no second factor. Throws `AccountError` `second-factor-needed`, `second-factor-wrong`, and `LimitError`.
   */
  async prove(of: Holder, shown: ShownFactor): Promise<UsedFactor | null> {
    const held = await this.of(of);
    if (held === undefined) return null;
    const { kind, next } =
      shown.passkey === '' && shown.code !== '' ? await this.#linkCode(held, shown) : await this.#proof(held, shown);
    return { kind, operations: [rowOf(next)] };
  }

  newId(): SecondFactorId {
    const { accountStore } = this.#options;
    return newSecondFactorId(accountStore.node, accountStore.now());
  }

  /** What an app is set up by, for a factor that is not there yet. */
  setupOf(of: Holder, id: SecondFactorId): Promise<TotpSetup> {
    return this.#secrets.setup({ ...of, id }, this.#options.accountStore.node);
  }

  /**
   * Adds an app that shows a right code. Who has a second factor already shows one of those too (`proof`). Resolves with
   * the recovery codes where it is somebody's first factor, with none otherwise. Throws as `prove` does,
   * `AccountError` `too-many-second-factors`, `person-not-found`, and `LimitError`.
   */
  addTotp(
    of: Holder,
    { id, name, code }: { readonly id: SecondFactorId; readonly name: string; readonly code: string },
    proof: ShownFactor,
    by: Actor,
  ): Promise<readonly string[]> {
    return this.#add(of, proof, by, async (held, now) => {
      // The secret of one that is there is known to whoever set it up: another app needs another.
      if (held?.factors.some((factor) => factor.id === id) === true) return undefined;
      const step = await this.#secrets.stepOf({ ...of, id }, code, Date.parse(now));
      if (step === undefined) return undefined;
      return { kind: 'totp', id, name, createdAt: now, lastUsedAt: null, lastStep: step };
    });
  }

  /** Adds a passkey that a browser made. As `addTotp`. */
  addPasskey(
    of: Holder,
    { name, passkey, secret }: Pick<ShownFactor, 'passkey' | 'secret'> & { readonly name: string },
    proof: ShownFactor,
    by: Actor,
  ): Promise<readonly string[]> {
    return this.#add(of, proof, by, async (held, now) => {
      const { site } = this;
      const made = site === null ? undefined : await madePasskey(site, passkeyChallenge(secret), passkey);
      if (made === undefined) return undefined;
      if (passkeysOf(held).some(({ credentialId }) => credentialId === made.credentialId)) return undefined;
      return { kind: 'passkey', id: this.newId(), name, createdAt: now, lastUsedAt: null, ...made };
    });
  }

  /** Takes one of the holder's away, for whoever shows one. Throws as `prove` does, and `second-factor-not-found`. */
  remove(of: Holder, id: string, shown: ShownFactor, by: Actor): Promise<void> {
    return this.#change(of, async (held) => {
      const factors = held.factors.filter((factor) => factor.id !== id);
      if (factors.length === held.factors.length) throw notFound();
      const { next } = await this.#ownProof(held, shown);
      const left = next.factors.filter((factor) => factor.id !== id);
      const operation = left.length === 0 ? removal(of) : rowOf({ ...next, factors: left });
      return {
        operations: [operation],
        events: [secondFactorEvent('second-factor.removed', of, by)],
        result: undefined,
      };
    });
  }

  /** Fresh recovery codes in the place of all others, for whoever shows a factor. Throws as `prove` does. */
  renewRecoveryCodes(of: Holder, shown: ShownFactor, by: Actor): Promise<readonly string[]> {
    return this.#change(of, async (held) => {
      const { next } = await this.#ownProof(held, shown);
      const codes = newRecoveryCodes();
      const operations = [rowOf({ ...next, ...this.#recovery(codes) })];
      return { operations, events: [secondFactorEvent('recovery-codes.renewed', of, by)], result: codes };
    });
  }

  /**
   * Takes all of a holder's away, at the word of the account or of an operator. Throws `AccountError`
   * `second-factor-not-found`, and `beyond-maker` where they reach further than the key that asks.
   */
  async removeAll(account: string, holder: string, by: Actor): Promise<void> {
    if (!isMailReader(holder)) throw notFound();
    const of = { account, holder };
    const events = [secondFactorEvent('second-factor.removed', of, by)];
    await this.#change(of, async () => {
      await this.#options.people.requireWithin(account, by, holder);
      return { operations: [removal(of)], events, result: undefined };
    });
  }

  async #add(
    of: Holder,
    proof: ShownFactor,
    by: Actor,
    make: (held: Held | undefined, now: Timestamp) => Promise<SecondFactor | undefined>,
  ): Promise<readonly string[]> {
    const { accountStore, people } = this.#options;
    const codes = await accountStore.change(async () => {
      if ((await people.addressOf(of.account, of.holder)) === undefined) {
        throw new AccountError('person-not-found', 'nobody signs in by this mail');
      }
      const before = await this.of(of);
      const held = before && (await this.#ownProof(before, proof)).next;
      if ((held?.factors.length ?? 0) >= MAX_SECOND_FACTORS) {
        throw new AccountError('too-many-second-factors', `a person has at most ${MAX_SECOND_FACTORS} second factors`);
      }
      const made = await make(held, timestampOf(accountStore.now()));
      if (made === undefined) throw new AccountError('second-factor-wrong', 'is not right, or is over', 'code');
      const fresh = held === undefined ? newRecoveryCodes() : [];
      const rest: Held = held ?? { ...of, factors: [], ...this.#recovery(fresh) };
      const operations = [rowOf({ ...rest, factors: [...rest.factors, made] })];
      return { operations, events: [secondFactorEvent('second-factor.added', of, by)], result: fresh };
    });
    await this.#tell(of);
    return codes;
  }

  /** A change of what is there. */
  async #change<Result>(of: Holder, work: (held: Held) => Promise<Change<Result>>): Promise<Result> {
    const result = await this.#options.accountStore.change(async () => {
      const held = await this.of(of);
      if (held === undefined) throw notFound();
      return work(held);
    });
    await this.#tell(of);
    return result;
  }

  /** What is shown beside a sign-in, where no link bounds the tries. Throws `LimitError` too. */
  #ownProof(held: Held, shown: ShownFactor): Promise<Proof> {
    const { account, holder } = held;
    const state = this.#tries.take(`${account} ${holder}`, TRIES, performance.now());
    if (state.allowed) return this.#proof(held, shown);
    throw tooMany(held, state, 'Too many codes were tried. Wait, or sign in anew.');
  }

  /**
   * Counted before it is judged, and not any more once it is right: no crowd of calls has a try for nothing. Throws
   * `LimitError` too.
   */
  async #linkCode(held: Held, shown: ShownFactor): Promise<Proof> {
    const tries = `${held.account} ${held.holder}`;
    const state = this.#linkTries.take(tries, LINK_TRIES, performance.now());
    if (!state.allowed) throw tooMany(held, state, 'Too many wrong codes came by mailed links in a day.');
    const proof = await this.#proof(held, shown);
    this.#linkTries.giveBack(tries);
    return proof;
  }

  #proof(held: Held, shown: ShownFactor): Promise<Proof> {
    return proofOf(held, shown, { secrets: this.#secrets, site: this.site, now: this.#options.accountStore.now() });
  }

  #recovery(codes: readonly string[]): Pick<Held, 'recoveryCodes' | 'recoveryCodesAt'> {
    const recoveryCodesAt = timestampOf(this.#options.accountStore.now());
    return { recoveryCodes: codes.map((code) => recoveryCodeDigest(code)), recoveryCodesAt };
  }

  async #voidRecoveryCodes(copiedAt: number): Promise<void> {
    const { store } = this.#options;
    for await (const [, held] of secondFactorTable.under(store, [])) {
      if (held.recoveryCodes.length === 0 || Date.parse(held.recoveryCodesAt) > copiedAt) continue;
      await store.write([rowOf({ ...held, recoveryCodes: [] })]);
    }
  }

  /** Who did not do it themselves learns of it. Never rejects. */
  async #tell(of: Holder): Promise<void> {
    const { mailer, people, baseUrl, log } = this.#options;
    try {
      const to = await people.addressOf(of.account, of.holder);
      if (to !== undefined) await mailer?.send({ to, ...changedMail(of.account, baseUrl()) });
    } catch (error) {
      log.warn({ err: error }, 'a change of second factors was not mailed');
    }
  }
}

function rowOf(held: Held): Operation {
  return secondFactorTable.put([held.account, held.holder], held);
}

function removal({ account, holder }: Holder): Operation {
  return secondFactorTable.del(account, holder);
}

function tooMany({ account }: Holder, { retryAfterSeconds }: WindowState, message: string): LimitError {
  return new LimitError('rate-limited', message, retryAfter(retryAfterSeconds), { kind: 'account', id: account });
}

function notFound(): AccountError {
  return new AccountError('second-factor-not-found', 'there is no such second factor', 'holder');
}

function changedMail(account: string, baseUrl: string) {
  return {
    subject: 'The second factors of your sign-in have changed',
    text: `What you show beside a mailed link to sign in at the console of the account
${account} at
${baseUrl}
was changed just now.

If it was not you, somebody else is signed in as you, or may change your
account: have its keys and sign-ins looked at.
`,
  };
}
