import type { NodeId } from '../../../protocol/ids.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { KeyedLock } from '../../concurrency/keyed-lock.ts';
import type { Store } from '../../store/store.ts';
import { accountCreated, askedFor, compressionChanged, keyEvent, nodesChanged } from '../account-event.ts';
import { keptNodes, nodesMember } from '../account-nodes.ts';
import { type AccountStore, type Change, type HeldKey, signUpTable } from '../account-store.ts';
import { type Account, accountTable, newAccountId } from '../account.ts';
import { ADMIN_TERMS, type ApiKey, freshKey, keyOperations, keyRemoval, keyState } from '../api-key.ts';
import { newKeyId } from '../key-id.ts';
import { keyDigest, newKeyText } from '../key-text.ts';
import { emailDigest, isPublicMailAddress } from '../mail/mail-address.ts';
import { type Mail, type Mailer, MailError } from '../mail/mailer.ts';
import { SignUpError, type SignUpLimits } from './sign-up-limits.ts';

/** What a sign-up says. */
export interface SignUpRequest {
  readonly email: string;
  /** Of an account that is there, and unused, what stands when it is absent. */
  readonly compressPayloads?: boolean;
  /** The same. */
  readonly nodes?: readonly NodeId[];
}

export interface SignUpOptions {
  readonly store: Store;
  readonly accountStore: AccountStore;
  /** Null where the node sends no mail. */
  readonly mailer: Pick<Mailer, 'send'> | null;
  readonly limits: SignUpLimits;
  /** False where the operator turned sign-up off. */
  readonly isOpen: boolean;
  /** Address of the key-authenticated API. */
  readonly nodeUrl: () => string;
}

/** Name of a key that a sign-up made. */
const SIGN_UP_KEY = 'sign-up';

/**
 * Accounts for whoever can read the mail of an address. What is answered, and what it takes, is the same whether the
 * address is known or not: the same is looked up, one mail is sent, and one atomic write follows.
 *
 * Crash order: the mail, then account, key and events in one atomic write. So nothing is ever left behind by a mail
 * that was not taken; a crash between the two leaves a mail whose key is unknown, and signing up again brings another.
 */
export class SignUp {
  readonly #options: SignUpOptions;
  /** One sign-up of an address at a time. */
  readonly #locks = new KeyedLock<string>();

  constructor(options: SignUpOptions) {
    this.#options = options;
  }

  /**
   * Sends a mail to the address: with the key of a new account, with a fresh key in the place of one never used, or
   * saying that there is an account. `from` is the caller's internet address. Throws `SignUpError`, `LimitError`, and
   * `AccountError` `nodes-invalid`.
   */
  async request(asked: SignUpRequest, from: string): Promise<void> {
    const { email } = asked;
    const { accountStore, isOpen, mailer, limits } = this.#options;
    if (!isOpen) throw new SignUpError('closed', 'this node takes no sign-ups');
    if (mailer === null) throw new SignUpError('no-mail', 'this node sends no mail');
    if (!isPublicMailAddress(email)) throw new SignUpError('email-invalid', 'is not a mail address');
    keptNodes(asked.nodes, accountStore);
    const digest = emailDigest(email);
    limits.admit(from, digest);
    await this.#locks.exclusive(digest, () => this.#signUp(asked, digest, mailer));
  }

  async #signUp(asked: SignUpRequest, digest: string, mailer: Pick<Mailer, 'send'>): Promise<void> {
    const { store, accountStore, nodeUrl } = this.#options;
    const id = await signUpTable.get(store, digest);
    const account = id ?? newAccountId(accountStore.node);
    const known = await accountStore.account(account);
    const isUntouched = await this.#isUntouched(account);
    // To the address as it was given first: another way to write it may, on a strange server, be another mailbox.
    const to = known?.email ?? asked.email;
    if (known !== undefined && !isUntouched) {
      await deliver(mailer, accountExistsMail(to, account, nodeUrl()));
      await accountStore.change(async () => ({
        operations: [],
        events: [askedFor('sign-up', account)],
        result: undefined,
      }));
      return;
    }
    const apiKey = newKeyText(accountStore.node);
    await deliver(mailer, keyMail(to, account, apiKey, nodeUrl()));
    await accountStore.change(() =>
      known === undefined ? this.#newAccount(account, asked, digest, apiKey) : this.#freshKey(account, asked, apiKey),
    );
  }

  async #newAccount(id: string, asked: SignUpRequest, digest: string, apiKey: string): Promise<Change<void>> {
    const key = this.#keyOf(id);
    const { email, compressPayloads = false } = asked;
    const nodes = keptNodes(asked.nodes, this.#options.accountStore);
    const base = { id, tier: 'developer' as const, email, createdAt: key.createdAt, ...nodesMember(nodes) };
    const account = compressPayloads ? { ...base, compressPayloads } : base;
    return {
      operations: [
        accountTable.put([id], account),
        signUpTable.put([digest], id),
        ...keyOperations(keyDigest(apiKey), key),
      ],
      events: [
        accountCreated(id, 'sign-up'),
        ...(nodes === undefined ? [] : [nodesChanged(id, nodes, 'sign-up')]),
        keyEvent('key.created', key, 'sign-up'),
      ],
      nodes,
      result: undefined,
    };
  }

  /** Looked at once more: while the mail was under way a key may have been used, which then stays, or been revoked. */
  async #freshKey(
    account: string,
    { compressPayloads, nodes: asked }: SignUpRequest,
    apiKey: string,
  ): Promise<Change<void>> {
    const { accountStore } = this.#options;
    const held = await accountStore.keys(account);
    if (held.some(({ key }) => !isOfSignUp(key) || keyState(key, accountStore.now()) !== 'active')) return NO_CHANGE;
    const old = held.filter((one) => !accountStore.wasUsed(one));
    const key = this.#keyOf(account);
    const known = await accountStore.requireAccount(account);
    const { nodes: before, ...rest } = known;
    const nodes = asked === undefined ? before : keptNodes(asked, accountStore);
    const changed: Account = {
      ...rest,
      ...(compressPayloads === undefined ? {} : { compressPayloads }),
      ...nodesMember(nodes),
    };
    const isPacked = (known.compressPayloads ?? false) !== (changed.compressPayloads ?? false);
    const isMoved = String(before) !== String(nodes);
    return {
      operations: [
        ...(isPacked || isMoved ? [accountTable.put([account], changed)] : []),
        ...old.flatMap((one) => keyRemoval(one.digest, one.key)),
        ...keyOperations(keyDigest(apiKey), key),
      ],
      events: [
        ...(isPacked ? [compressionChanged(changed, 'sign-up')] : []),
        ...(isMoved ? [nodesChanged(account, nodes ?? [accountStore.node], 'sign-up')] : []),
        ...old.map((one) => keyEvent('key.revoked', one.key, 'sign-up')),
        keyEvent('key.created', key, 'sign-up'),
      ],
      nodes,
      result: undefined,
    };
  }

  /** Whether nobody has used the account or its keys, and no operator has ended one, or made the account. */
  #isUntouched(account: string): Promise<boolean> {
    const { accountStore } = this.#options;
    const isUnused = (one: HeldKey) =>
      isOfSignUp(one.key) && keyState(one.key, accountStore.now()) === 'active' && !accountStore.wasUsed(one);
    return accountStore.look(async () => {
      const held = await accountStore.keys(account);
      return held.length > 0 && held.every(isUnused);
    });
  }

  #keyOf(account: string): ApiKey {
    const now = this.#options.accountStore.now();
    const terms = { ...ADMIN_TERMS, name: SIGN_UP_KEY };
    return freshKey(newKeyId(this.#options.accountStore.node, now), account, terms, timestampOf(now));
  }
}

const NO_CHANGE: Change<void> = { operations: [], events: [], result: undefined };

function isOfSignUp({ name, replacedBy }: ApiKey): boolean {
  return name === SIGN_UP_KEY && replacedBy === null;
}

/** Throws `SignUpError` `not-sent`. */
async function deliver(mailer: Pick<Mailer, 'send'>, mail: Mail): Promise<void> {
  try {
    await mailer.send(mail);
  } catch (error) {
    if (!(error instanceof MailError)) throw error;
    throw new SignUpError('not-sent', 'the mail was not taken', error);
  }
}

/** The mail that brings a new key: the only place where its text ever stands. */
function keyMail(to: string, account: string, apiKey: string, nodeUrl: string): Mail {
  return {
    to,
    subject: 'Your Meridian API key',
    text: `Someone, you it seems, signed up to Meridian with this address at
${nodeUrl}

Account: ${account} (tier: developer)
API key:

${apiKey}

Keep it safe: it is shown in this mail alone, and the node keeps only its
hash. A key that this address was sent before and that was never used has
ended.

Record a first decision:

curl -s ${nodeUrl}/v1/tiered-attest \\
  -H 'x-api-key: ${apiKey}' \\
  -H 'content-type: application/json' \\
  -d '{"sourceId": "my-model", "data": {"output": {"decision": "ok"}}}'

This key may do everything, making other keys included. Give your programs
keys that may do less (POST /v1/keys), and replace this one when in doubt
(POST /v1/keys/{id}/rotate; GET /v1/keys tells its id). The whole API:
${nodeUrl}/openapi.json

If it was not you, there is nothing to do: an account that nobody uses does
nothing.
`,
  };
}

/** The mail to an address whose account is in use: no key is made. */
function accountExistsMail(to: string, account: string, nodeUrl: string): Mail {
  return {
    to,
    subject: 'You already have a Meridian account',
    text: `Someone, you it seems, signed up to Meridian with this address at
${nodeUrl}

It has an account there that is in use: ${account}. So no key was made, and
none was changed.

With a key of the account that may administer keys you can make another one
(POST /v1/keys) or replace one (POST /v1/keys/{id}/rotate; GET /v1/keys tells
the ids). If you have lost them all, ask for a link that replaces them:

POST ${nodeUrl}/v1/lost-key with the body
{"email": "${to}"}

If it was not you, there is nothing to do.
`,
  };
}
