import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { heldStatementTable, wantedStatementTable } from '../../../node/accounts/elsewhere/held-statement-tables.ts';
import { statedVersionTable, statementDueTable } from '../../../node/accounts/statements/statement-tables.ts';
import { recordId } from '../../../protocol/ids.ts';
import { type Damage, fsckAfter, type Mutation, put, type StoredRows, testDamages } from './damaged-home.ts';
import { EU, scratchDirectory, US, writeHome } from './home.ts';
import { statedAccount } from './home-statements.ts';
import { copyTo, drop, edit, move, text } from './mutations.ts';

const [OWN, FOREIGN] = [statedAccount(EU), statedAccount(US)];
const OTHER = 'acc_us_other';
const plusOne = (key: string): string =>
  key.replace(/\d+$/, (seq) => String(Number(seq) + 1).padStart(seq.length, '0'));
const otherRecord = (row: string): string =>
  row.replace(/(att_us_\w{25})(\w)/, (_, id, last) => `${id}${last === 'Z' ? 'Y' : 'Z'}`);

/** The first record of `us`, a decision: its id, and the rest of its place. */
async function firstDecision(rows: StoredRows) {
  const found = (await rows.under('record/att_us_')).find(([, seq]) => text(seq) === '1');
  if (found === undefined) throw new RangeError('us has no record');
  return { id: recordId(found[0].slice('record/'.length)), place: [US, 'acc_eu_acme', 1] } as const;
}

const DAMAGES: readonly Damage[] = [
  {
    what: 'an account of another home names other nodes',
    mutate: async (rows) => {
      const [key, value] = await rows.at(`account/${OWN}`, 0);
      return [put(key.replace(OWN, FOREIGN), Buffer.from(value).toString().replace(OWN, FOREIGN))];
    },
    found: ['account', /this one is not its home/],
  },
  {
    what: 'an account names other nodes without its home',
    mutate: edit(`account/${OWN}`, 0, (row) => row.replace('"eu"', '"ca"')),
    found: ['account', /is not among them/],
  },
  {
    what: 'a statement is due for a cause that there is not',
    mutate: edit('statement-due/', 0, () => 'whim'),
    found: ['statement-due', /does not read/],
  },
  {
    what: 'a statement is due of no account',
    mutate: move('statement-due/', 0, (key) => key.replace(OWN, 'nothing')),
    found: ['statement-due', /no key of this table/],
  },
  {
    what: 'a due statement has no name of its own',
    mutate: async () => [statementDueTable.put([OWN], 'changed')],
    found: ['statement-due', /no key of this table/],
  },
  {
    what: 'a statement is due of an account of another node',
    mutate: move('statement-due/', 0, (key) => key.replace(OWN, FOREIGN)),
    found: ['statement-due', /whose home is another node/],
  },
  {
    what: 'a version was published that is not in the chain',
    mutate: async () => [statedVersionTable.put([OWN], 2)],
    found: ['stated-version', /version 2 was published, the chain ends at 1/],
  },
  {
    what: 'a version was published of an account of another node',
    mutate: move('stated-version/', 0, (key) => key.replace(OWN, FOREIGN)),
    found: ['stated-version', /the chain ends at 0/],
  },
  {
    what: 'a version was published of no account',
    mutate: move('stated-version/', 0, (key) => `${key}/x`),
    found: ['stated-version', /no key of this table/],
  },
  {
    what: 'a published version is no number',
    mutate: edit('stated-version/', 0, () => 'first'),
    found: ['stated-version', /does not read/],
  },
  {
    what: 'a held statement stands under a node that is not its home',
    mutate: move('account-statement/us/', 0, (key) => key.replace('/us/', '/ca/')),
    found: ['account-statement', /no account of another node/],
  },
  {
    what: 'the statement of an own account is held as that of another node',
    mutate: copyTo('account-statement/', 0, heldStatementTable.key(EU, OWN, 1)),
    found: ['account-statement', /no account of another node/],
  },
  {
    what: 'a held statement has no salt',
    mutate: edit('account-statement/', 0, (row) => row.replace('"salt"', '"pepper"')),
    found: ['account-statement', /does not read/],
  },
  {
    what: 'a held statement stands at another place of the chain',
    mutate: move('account-statement/', 0, plusOne),
    found: ['account-statement', /is of another place/],
  },
  {
    what: 'a held statement stands under another account',
    mutate: move('account-statement/', 0, (key) => key.replace(FOREIGN, OTHER)),
    found: ['account-statement', /is of another place/],
  },
  {
    what: 'a decision is held as a statement',
    mutate: async (rows) => {
      const { id, place } = await firstDecision(rows);
      return [heldStatementTable.put(place, { id, salt: '', text: '' })];
    },
    found: ['account-statement', /is of another place/],
  },
  {
    what: 'a held statement grants another tier',
    mutate: edit('account-statement/', 0, (row) => row.replace('standard', 'developer')),
    found: ['account-statement', /not what its home signed/],
  },
  {
    what: 'the salt of a held statement is another',
    mutate: edit('account-statement/', 0, (row) =>
      row.replace(/"salt":"(.)/, (_, c) => `"salt":"${c === 'A' ? 'B' : 'A'}`),
    ),
    found: ['account-statement', /not what its home signed/],
  },
  {
    what: 'the salt of a held statement is no text of bytes',
    mutate: edit('account-statement/', 0, (row) => row.replace('"salt":"', '"salt":"!')),
    found: ['account-statement', /not what its home signed/],
  },
  {
    what: 'a foreign key is no digest',
    mutate: move('foreign-key/', 0, () => 'foreign-key/secret'),
    found: ['foreign-key', /no digest of a key/],
  },
  {
    what: 'a foreign key is of no account',
    mutate: edit('foreign-key/', 0, () => '{"accounts":[],"contested":false}'),
    found: ['foreign-key', /does not read/],
  },
  {
    what: 'a foreign key leads to an account of which no statement is held',
    mutate: edit('foreign-key/', 0, (row) => row.replace(FOREIGN, OTHER)),
    found: ['foreign-key', /leads to acc_us_other, of which no held statement/],
  },
  {
    what: 'a foreign key leads to what is no account',
    mutate: edit('foreign-key/', 0, (row) => row.replace(FOREIGN, 'nothing')),
    found: ['foreign-key', /leads to nothing, of which no held statement/],
  },
  {
    what: 'the digest of a foreign key is of a key that is not stated',
    mutate: move('foreign-key/', 0, () => `foreign-key/${'0'.repeat(64)}`),
    found: ['foreign-key', /no held statement states the key/],
  },
  {
    what: 'a foreign key of several accounts is not contested',
    mutate: edit('foreign-key/', 0, (row) => row.replace(`"${FOREIGN}"`, `"${FOREIGN}","${FOREIGN}"`)),
    found: ['foreign-key', /several accounts and is not contested/],
  },
  {
    what: 'a decision is wanted as a statement',
    mutate: async (rows) => {
      const { id, place } = await firstDecision(rows);
      return [wantedStatementTable.put(place, id)];
    },
    found: ['statement-wanted', /is of another place/],
  },
  {
    what: 'the statement of an own account is wanted of another node',
    mutate: copyTo('statement-wanted/', 0, wantedStatementTable.key(EU, OWN, 1)),
    found: ['statement-wanted', /no account of another node/],
  },
  {
    what: 'a statement is wanted of a node that is not its account’s home',
    mutate: move('statement-wanted/', 0, (key) => key.replace('/us/', '/ca/')),
    found: ['statement-wanted', /no account of another node/],
  },
  {
    what: 'a wanted statement stands at another place of the chain',
    mutate: move('statement-wanted/', 0, plusOne),
    found: ['statement-wanted', /is of another place/],
  },
  {
    what: 'a wanted statement stands under another account',
    mutate: move('statement-wanted/', 0, (key) => key.replace(FOREIGN, OTHER)),
    found: ['statement-wanted', /is of another place/],
  },
  {
    what: 'a link for lost keys is no digest',
    mutate: move('lost-key/', 0, () => 'lost-key/secret'),
    found: ['lost-key', /no digest of a link/],
  },
  {
    what: 'a link for lost keys has no end',
    mutate: edit('lost-key/', 0, (row) => row.replace('expiresAt', 'until')),
    found: ['lost-key', /does not read/],
  },
  {
    what: 'a link that shares is no digest',
    mutate: move('share/', 0, () => 'share/secret'),
    found: ['share', /no digest of a link/],
  },
  {
    what: 'a link that shares works for more than ninety days',
    mutate: edit('share/', 0, (row) => row.replace(/"expiresAt":"[^"]+"/, '"expiresAt":"2099-01-01T00:00:00.000Z"')),
    found: ['share', /more than 90 days/],
  },
  {
    what: 'a link that shares is of an account that there is not',
    mutate: edit('share/', 0, (row) => row.replace('"account":"acc_eu_', '"account":"acc_eu_x')),
    found: ['share', /which does not exist/],
  },
  {
    what: 'a link that shares is in no list',
    mutate: drop('account-share/', 0),
    found: ['share', /is not among the links/],
  },
  {
    what: 'a person stands under another account',
    mutate: edit('person/', 0, (row) => row.replace('"account":"acc_eu_', '"account":"acc_eu_x')),
    found: ['person', /is of another account/],
  },
  {
    what: 'a person is not found by the address',
    mutate: drop('person-address/', 0),
    found: ['person', /is not found by the address/],
  },
  {
    what: 'an address leads to nobody',
    mutate: drop('person/', 0),
    found: ['person-address', /leads to nobody/],
  },
  {
    what: 'second factors stand under another account',
    mutate: edit('second-factor/', 0, (row) => row.replace('"account":"acc_eu_', '"account":"acc_eu_x')),
    found: ['second-factor', /of another account/],
  },
  {
    what: 'second factors are of nobody',
    mutate: drop('person/', 0),
    found: ['second-factor', /of nobody of the account/],
  },
  {
    what: 'a second factor is there twice',
    mutate: edit('second-factor/', 0, (row) => {
      const [first = '', second = ''] = row.match(/sfa_eu_[0-9A-Z]{26}/g) ?? [];
      return row.replace(second, first);
    }),
    found: ['second-factor', /twice/],
  },
  {
    what: 'a sign-in is no digest',
    mutate: move('sign-in/', 0, () => 'sign-in/secret'),
    found: ['sign-in', /no digest of a secret/],
  },
  {
    what: 'a sign-in holds for longer than twelve hours',
    mutate: edit('sign-in/', 0, (row) => row.replace(/"expiresAt":"[^"]+"/, '"expiresAt":"2099-01-01T00:00:00.000Z"')),
    found: ['sign-in', /more than 12 hours/],
  },
  {
    what: 'a sign-in is in no list',
    mutate: drop('account-sign-in/', 0),
    found: ['sign-in', /is not among the sign-ins/],
  },
  {
    what: 'the list of an account names a sign-in that is not there',
    mutate: drop('sign-in/', 0),
    found: ['account-sign-in', /not there/],
  },
  {
    what: 'the list of an account names a link that is not there',
    mutate: drop('share/', 0),
    found: ['account-share', /not there/],
  },
];

const scratch = await scratchDirectory();
const home = join(scratch.path, 'eu');

test.before(() => writeHome(home, 1, { withStatements: true }));
test.after(async () => {
  await scratch[Symbol.asyncDispose]();
});

test('a home that states an account, and holds the statement of another node’s, is whole', async () => {
  const { report } = await fsckAfter(home, async (rows) => {
    const tables = [
      'statement-due',
      'stated-version',
      'account-statement',
      'foreign-key',
      'statement-wanted',
      'lost-key',
      'share',
      'account-share',
      'sign-in',
      'account-sign-in',
      'person',
      'person-address',
      'second-factor',
    ];
    for (const table of tables) await rows.at(`${table}/`, 0);
    return [];
  });
  assert.equal(report.findings, []);
  const { foreignStatements, lostKeyLinks, shares, signIns } = report.counts;
  assert.equal([foreignStatements, lostKeyLinks, shares, signIns], [1, 1, 1, 1]);
});

testDamages(home, DAMAGES);

/** What a fork, or many accounts of one key, may leave: no damage. */
const POINTED_OUT: readonly (readonly [what: string, mutate: Mutation, table: string, detail: RegExp])[] = [
  [
    'a held statement is of a record that is not here',
    edit('account-statement/', 0, otherRecord),
    'account-statement',
    /not held/,
  ],
  [
    'a wanted statement is of a record that is not here',
    edit('statement-wanted/', 0, otherRecord),
    'statement-wanted',
    /not held/,
  ],
  [
    'a key that is stated is not found by its digest',
    drop('foreign-key/', 0),
    'account-statement',
    /not found by its digest/,
  ],
];

for (const [what, mutate, table, detail] of POINTED_OUT) {
  test(`pointed out: ${what}`, async () => {
    const { report } = await fsckAfter(home, mutate);
    const [only, ...rest] = report.findings;
    assert.equal([only?.severity, only?.table, rest], ['warning', table, []]);
    assert.match(only?.detail ?? '', detail);
  });
}

test.run();
