import { join } from 'node:path';
import { test } from 'uvu';
import { type Damage, put, testDamages } from './damaged-home.ts';
import { scratchDirectory, writeHome } from './home.ts';
import { copyTo, drop, edit, move, resign, swap } from './mutations.ts';

/** A receipt of the store, kept as one that is not kept, with a change. */
function keepReceipt(change: (row: { readonly statement: string }) => object): Damage['mutate'] {
  return async (rows) => {
    const [key, value] = await rows.at('group/us', 0);
    const row: { statement: string; signature: string } = JSON.parse(Buffer.from(value).toString());
    const leaf = `sha256:${'1'.repeat(64)}`;
    return [
      put(key.replace('group/', 'receipt-not-kept/'), JSON.stringify({ ...row, leaf, path: [], ...change(row) })),
    ];
  };
}

const DAMAGES: readonly Damage[] = [
  { what: 'the rosters are dropped', mutate: drop('given-rosters/', 0), found: ['given-rosters', /no valid roster/] },
  {
    what: 'a signature of the genesis roster is changed',
    mutate: edit('given-rosters/', 0, resign),
    found: ['given-rosters', /signature/],
  },
  {
    what: 'rosters stand under another key',
    mutate: copyTo('given-rosters/', 0, 'given-rosters/other'),
    found: ['given-rosters', /belongs to nothing/],
  },
  {
    what: 'the signature of a vote is changed',
    mutate: edit('roster-vote/', 0, resign),
    found: ['roster-vote', /signed by no member/],
  },
  {
    what: 'a vote stands under another version',
    mutate: move('roster-vote/', 0, (key) => `${key.slice(0, -1)}3`),
    found: ['roster-vote', /another key/],
  },
  { what: 'a certificate is dropped', mutate: drop('certificate/us', 0), found: ['group', /no certificate of us/] },
  {
    what: 'the signature of a certificate is changed',
    mutate: edit('certificate/ca', 0, resign),
    found: ['certificate', /not signed/],
  },
  {
    what: 'a certificate stands under another key',
    mutate: move('certificate/ca', 0, (key) => `${key.slice(0, -1)}x`),
    found: ['certificate', /another key/],
  },
  {
    what: 'the signature of a revocation is changed',
    mutate: edit('revocation/', 0, resign),
    found: ['revocation', /not signed/],
  },
  {
    what: 'an equivocation has a changed signature',
    mutate: edit('equivocation/', 0, resign),
    found: ['equivocation', /signature of the envelope/],
  },
  {
    what: 'an equivocation has the same envelope twice',
    mutate: edit('equivocation/', 0, (s) => {
      const first: unknown = JSON.parse(s).first;
      return JSON.stringify({ first, second: first });
    }),
    found: ['equivocation', /do not contradict/],
  },
  {
    what: 'a receipt is kept for a leaf that is not under it',
    mutate: keepReceipt(() => ({ leaf: `sha256:${'0'.repeat(64)}` })),
    found: ['receipt-not-kept', /does not walk to the root/],
  },
  {
    what: 'a receipt that is kept is not its node’s',
    mutate: keepReceipt(({ statement }) => ({ statement: statement.replace(/"size":\d+/, '"size":4000') })),
    found: ['receipt-not-kept', /signature/],
  },
  {
    what: 'the decision of a confirmed batch is dropped',
    mutate: drop('log-batch/eu', 0),
    found: ['outbox-closed', /the log has not decided it/],
  },
  { what: 'an outbox row is dropped', mutate: drop('outbox/', 0), found: ['outbox', /in no outbox/] },
  {
    what: 'an outbox row is stray',
    mutate: copyTo('outbox/', 0, 'outbox/0000000000000077'),
    found: ['outbox', /belongs to nothing/],
  },
  {
    what: 'an outbox row has lost its transaction',
    mutate: edit('outbox/', 0, (s) => s.replace(/"transaction":\{[^}]*\}/, '"transaction":null')),
    found: ['outbox', /without a transaction/],
  },
  {
    what: 'an outbox row has another message',
    mutate: edit('outbox-closed/', 0, (s) => s.replace(/envelope\\":\\"sha256:..../, 'envelope\\":\\"sha256:0000')),
    found: ['outbox-closed', /message is not that of the batch/],
  },
  {
    what: 'a confirmed batch is queued again',
    mutate: async (r) => {
      const [key, value] = await r.at('outbox-closed/', 0);
      return [put(key.replace('-closed', ''), value)];
    },
    found: ['outbox', /at once/],
  },
  {
    what: 'a duplicate row leads nowhere',
    mutate: edit('duplicate/', 0, (id) => id.replace(/.{8}$/, '00000000')),
    found: ['duplicate', /is not here/],
  },
  {
    what: 'an idempotency row leads to a peer',
    mutate: edit('idempotency/', 0, (row) => row.replace('att_eu', 'att_us')),
    found: ['idempotency', /no record of this node/],
  },
  { what: 'an account is dropped', mutate: drop('account/acc_eu_acme', 0), found: ['api-key', /does not exist/] },
  {
    what: 'an account has no tier',
    mutate: edit('account/', 0, (row) => row.replace('tier', 'tear')),
    found: ['account', /does not read/],
  },
  {
    what: 'an API key is no digest',
    mutate: move('api-key/', 0, () => 'api-key/secret'),
    found: ['api-key', /no digest/],
  },
  {
    what: 'an API key is not in the list of its account',
    mutate: drop('account-key/acc_eu_acme', 0),
    found: ['api-key', /not among the keys/],
  },
  {
    what: 'a list names a key that is not there',
    mutate: copyTo('account-key/acc_eu_acme', 0, 'account-key/acc_eu_globex/key_eu_01KAJ4T2C7Y0QW5H8ZN6XDR9MB'),
    found: ['account-key', /not there, or another one/],
  },
  {
    what: 'a list names two keys in the place of each other',
    mutate: swap('account-key/', 0, 1),
    found: ['account-key', /another one/],
  },
  {
    what: 'a key has a scope that there is not',
    mutate: edit('api-key/', 0, (row) => row.replace('keys:admin', 'keys:owner')),
    found: ['api-key', /does not read/],
  },
  {
    what: 'a sign-up leads to the account of another',
    mutate: edit('sign-up/', 0, () => 'acc_eu_acme'),
    found: ['sign-up', /no account of that address/],
  },
  {
    what: 'a link for lost keys leads to no account',
    mutate: edit('lost-key/', 0, (row) => row.replace('acc_eu_', 'acc_us_')),
    found: ['lost-key', /which does not exist/],
  },
  { what: 'the spend row is unreadable', mutate: edit('spend/', 0, () => '{}'), found: ['spend', /does not read/] },
  {
    what: 'a row stands in no table',
    mutate: async () => [put('intruder/1', 'x')],
    found: ['intruder', /no known table/],
  },
];

const scratch = await scratchDirectory();
const home = join(scratch.path, 'eu');

test.before(() => writeHome(home, 3));
test.after(async () => {
  await scratch[Symbol.asyncDispose]();
});

testDamages(home, DAMAGES);

test.run();
