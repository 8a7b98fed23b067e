import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Tier } from '../../../../protocol/accounts/tier.ts';
import { accountTable } from '../../../../node/accounts/account.ts';
import { newSecondFactorId, secondFactorTable } from '../../../../node/accounts/second-factors/second-factor-table.ts';
import { KeyedLock } from '../../../../node/concurrency/keyed-lock.ts';
import { isPersonId } from '../../../../protocol/api/people.ts';
import { LINK_MS, lostKeyTable, newToken, tokenDigest } from '../../../../node/accounts/lost-key/lost-key-table.ts';
import { isJsonObject, type JsonObject } from '../../../../protocol/json/value.ts';
import { timestampOf } from '../../../../protocol/time.ts';
import { PAYMENT_SIGNATURE_HEADER } from '../../../../protocol/payments/header.ts';
import { ApiDocument, type Operation } from '../../../fixtures/api-document.ts';
import { TestChain } from '../../../fixtures/chain.ts';
import { CompletionServer } from '../../../fixtures/completion-server.ts';
import { completionsOf } from '../../../fixtures/completions-config.ts';
import { TestMailSink } from '../../../fixtures/mail-sink.ts';
import { importSampleLists } from '../../../fixtures/sample-lists.ts';
import { SchemaJudge } from '../../../fixtures/schema-judge.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import type { Ask, HttpAnswer } from '../../../fixtures/test-node.ts';
import { headerFaults, refusalFault } from './answer-faults.ts';
import { LivePayer } from './live-payer.ts';
import {
  bodyTrials,
  idempotencyTrials,
  keyTrials,
  memberTrials,
  type OtherKeys,
  pathTrials,
  queryTrials,
  type Trial,
} from './trials.ts';
import { type LiveRequest, LiveWorld, requireAccepted } from './live-world.ts';

/** Operations on an account's calendar, one after another. */
const calendars = new KeyedLock<string>();
/** Operations driven at once: each may wait for the ledger. */
const AT_ONCE = 8;

const [sink, chain, completions] = await Promise.all([
  TestMailSink.start(),
  TestChain.start(),
  CompletionServer.start(),
]);
const network = await TestNetwork.start({
  ledger: 'local',
  config: {
    mail: sink.config,
    batchIntervalMs: 100,
    payments: chain.config(),
    inference: completionsOf(completions),
  },
});
const node = network.node();
await importSampleLists(node);
const document = new ApiDocument((await node.get('/openapi.json', { key: null })).body);
const judge = new SchemaJudge(document.root);
/**
 * All scopes, and limits that one test stays below, so that every header is there: each test has an account of its own.
 */
let makerKey = '';
let callerKey = '';
let payer = await newPayer();
let accounts = 0;
let worlds = 0;

test.before.each(() => beginAccount('professional'));

/** A new account for the test under way. */
async function beginAccount(tier: Tier): Promise<void> {
  accounts++;
  const id = accountId();
  makerKey = `mk_test_${id}_maker_0000000000000000`;
  await node.context.accounts.grant({ id, tier }, makerKey);
  const email = `owner-${accounts}@example.org`;
  await node.context.store.write([accountTable.put([id], { id, tier, email })]);
  callerKey = await createKey({ name: 'caller', preset: 'admin' });
  payer = await newPayer();
}

test.after(async () => {
  await network[Symbol.asyncDispose]();
  await chain[Symbol.asyncDispose]();
  await completions[Symbol.asyncDispose]();
  await sink[Symbol.asyncDispose]();
});

/** Of the account that the test under way has to itself. */
function accountId(): string {
  return `acc_eu_contract-${accounts}`;
}

async function createKey(terms: { name: string; preset?: string; scopes?: string[] }): Promise<string> {
  const { body } = requireAccepted('POST /v1/keys', await node.post('/v1/keys', terms, { key: makerKey }));
  return String(body.apiKey);
}

async function newPayer(): Promise<LivePayer> {
  return new LivePayer({ wallet: await chain.wallet(), payTo: chain.payTo, baseUrl: node.baseUrl });
}

function newWorld(): LiveWorld {
  const look = () => node.context.dueAlerts.look();
  return new LiveWorld({ node, document, makerKey, link: newLink, look, secondFactor }, `w${++worlds}`);
}

/** A link beside those that the account has: a mailed one would end them, and operations are asked for at once. */
async function newLink(): Promise<string> {
  const token = newToken();
  const expiresAt = timestampOf(Date.now() + LINK_MS);
  await node.context.store.write([lostKeyTable.put([tokenDigest(token)], { account: accountId(), expiresAt })]);
  return token;
}

/** What is sold is paid for, unless `more` has a payment of its own. */
async function ask(operation: Operation, path: string, body: unknown, more: Ask = {}): Promise<HttpAnswer> {
  const { method, keyed, usd } = operation;
  const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body);
  const isPaid = Object.hasOwn(more.headers ?? {}, PAYMENT_SIGNATURE_HEADER);
  // A wallet that never paid may have one batch under way, and operations are asked for at once.
  const by = path.includes('-batch') ? await newPayer() : payer;
  const headers = { ...(isPaid ? {} : await by.headers(operation, path)), ...more.headers };
  // With a key, prices are asked for without limit.
  return node.send(method, path, text, { key: keyed || usd !== null ? callerKey : null, ...more, headers });
}

/** As if a person had set up an app. */
async function secondFactor(person: string): Promise<void> {
  if (!isPersonId(person)) throw new RangeError(`${person} is nobody`);
  const now = timestampOf(Date.now());
  const factor = {
    kind: 'totp',
    id: newSecondFactorId(node.context.config.id, Date.now()),
    name: 'App',
    createdAt: now,
  } as const;
  const factors = [{ ...factor, lastUsedAt: null, lastStep: 0 }];
  const held = { account: accountId(), holder: person, factors, recoveryCodes: [], recoveryCodesAt: now };
  await node.context.store.write([secondFactorTable.put([held.account, person], held)]);
}

/** Does something for every operation, a few at a time, and names all that it found fault with. */
async function every(
  check: (operation: Operation) => Promise<readonly string[]>,
  isMeant: (operation: Operation) => boolean = () => true,
): Promise<void> {
  const waiting = document.operations.filter(isMeant);
  const faults: string[] = [];
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { method, template } = next;
      const checked = isOfCalendar(next) ? calendars.exclusive(accountId(), () => check(next)) : check(next);
      const found = await checked.catch((error: unknown) => [String(error)]);
      faults.push(...found.map((fault) => `${method} ${template}: ${fault}`.slice(0, 600)));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  assert.equal(faults, []);
}

/** An account has one address of its calendar: who makes a new one ends the one that another operation asks for. */
function isOfCalendar({ template }: Operation): boolean {
  return template.startsWith('/v1/calendar');
}

/** What is wrong with an answer of acceptance: its form, its type, its headers. */
function answerFaults(operation: Operation, answer: HttpAnswer): string[] {
  const described = operation.answers.get(200);
  if (described === undefined) return ['200 is not described'];
  const { content } = described;
  const type = answer.headers.get('content-type') ?? '';
  const faults: string[] = [];
  const types = [content.type, ...content.others].map((one) => one.split(';')[0]);
  if (!types.includes(type.split(';')[0])) faults.push(`comes as ${type}, not as ${types.join(' or ')}`);
  const fault = judge.of(content.schema)(/[/+]json$/.test(content.type) ? answer.body : answer.text);
  if (fault !== null) faults.push(fault);
  for (const name of dueHeaders(operation, answer)) {
    if (!answer.headers.has(name)) faults.push(`lacks the header ${name}`);
  }
  return [...faults, ...headerFaults(judge, described, answer)];
}

/** The headers that an answer must have beside those that always come: of limits, of waiting, of what is charged. */
function dueHeaders({ keyed, usd, answers }: Operation, { body }: HttpAnswer): string[] {
  const limits = keyed
    ? ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'X-Daily-Limit', 'X-Daily-Remaining']
    : [];
  const waited = answers.get(200)?.headers.has('Preference-Applied') === true ? ['Preference-Applied'] : [];
  return [...limits, ...waited, ...(usd !== null && body.charged !== false ? ['PAYMENT-RESPONSE'] : [])];
}

test('every example is accepted, and answered as it is described: body, type and headers', () =>
  every(async (operation) => {
    const { path, body } = await newWorld().request(operation, 'whole');
    const answer = await ask(operation, path, body, { headers: { prefer: 'wait=20' } });
    requireAccepted(path, answer);
    return answerFaults(operation, answer);
  }));

test('so is the least of every example, or it is said what more is needed', () =>
  every(async (operation) => {
    const { path, body } = await newWorld().request(operation, 'least');
    const answer = await ask(operation, path, body, { headers: { prefer: 'wait=20' } });
    if (answer.body.code === 'missing-field') return refusalFault(document, judge, operation, answer);
    requireAccepted(path, answer);
    return answerFaults(operation, answer);
  }));

test('every page of a list is answered as it is described', () =>
  every(async (operation) => {
    const names = new Set(operation.parameters.map(({ name }) => name));
    if (!names.has('cursor')) return [];
    const { path } = await newWorld().request(operation, 'least');
    const page = async (cursor: string): Promise<HttpAnswer> => {
      const query = [...(names.has('limit') ? ['limit=1'] : []), cursor].join('&');
      return requireAccepted(path, await ask(operation, `${path}${path.includes('?') ? '&' : '?'}${query}`, undefined));
    };
    const first = await page('');
    const { nextCursor } = first.body;
    if (typeof nextCursor !== 'string') return answerFaults(operation, first);
    const second = await page(`cursor=${encodeURIComponent(nextCursor)}`);
    return [...answerFaults(operation, first), ...answerFaults(operation, second)];
  }));

test('a call without a key that may is refused, with a code that is described', async () => {
  const keys = await otherKeys();
  await every(async (operation) => {
    const request = await newWorld().request(operation, 'whole');
    return trialFaults(operation, keyTrials(operation, request, keys));
  }, isFree);
});

test('what is not as described is refused, with a code that is', async () => {
  // A trial for each member of each body: more than the other tiers may ask in a minute.
  await beginAccount('enterprise');
  await every(async (operation) => {
    const request = await newWorld().request(operation, 'whole');
    return trialFaults(operation, formTrials(operation, request));
  }, isFree);
});

test('so it is where it is sold, and so is a payment that does not hold', () =>
  every(
    async (operation) => {
      const request = await newWorld().request(operation, 'whole');
      const forms = formTrials(operation, request);
      // A payment is as good as before where what it came with was refused: one does for all.
      const headers = await payer.headers(operation, request.path);
      const paid = forms.map(({ what, path, body, ask: own }) => ({
        what,
        path,
        body,
        ask: { headers: { ...headers, ...own?.headers } },
      }));
      return trialFaults(operation, [...paid, ...(await payer.trials(operation, request))]);
    },
    ({ usd }) => usd !== null,
  ));

function isFree({ usd }: Operation): boolean {
  return usd === null;
}

function formTrials(operation: Operation, request: LiveRequest): Trial[] {
  return [
    ...bodyTrials(operation, request),
    ...memberTrials(judge, operation, request),
    ...queryTrials(judge, operation, request),
  ];
}

/** What is wrong with how trials were refused. */
async function trialFaults(operation: Operation, trials: readonly Trial[]): Promise<string[]> {
  const faults: string[] = [];
  for (const { what, path, body, ask: more } of trials) {
    const answer = await ask(operation, path, body, more);
    faults.push(...refusalFault(document, judge, operation, answer).map((fault) => `${what}: ${fault}`));
  }
  return faults;
}

test('what names nothing, or comes twice, is answered as described', () =>
  every(async (operation) => {
    const request = await newWorld().request(operation, 'whole');
    const trials = [
      ...pathTrials(operation, request),
      ...idempotencyTrials(operation, request),
      { what: 'ids of nothing', ...exampleAsItIs(operation) },
    ];
    const faults: string[] = [];
    for (const { what, path, body, ask: more } of trials) {
      const answer = await ask(operation, path, body, more);
      const found =
        answer.status === 200 ? answerFaults(operation, answer) : refusalFault(document, judge, operation, answer);
      faults.push(
        ...found.filter((fault) => !fault.includes('Preference-Applied')).map((fault) => `${what}: ${fault}`),
      );
    }
    return faults;
  }));

/** Bodies that fail a condition of several members, or a form, made of the example of an operation. */
const UNFIT: readonly (readonly [operation: string, change: JsonObject])[] = [
  ['postKeys', { scopes: ['proof:read'] }],
  ['postKeys', { preset: null }],
  ['postKeys', { addresses: ['203.0.113.0/33'] }],
  ['postKeys', { addresses: ['2001:db8::1::2'] }],
  ['postKeys', { expiresAt: '2099-01-01' }],
  ['postErasures', { subjectRef: 'a person' }],
  ['postErasures', { attestationIds: null }],
  ['postRetentionLock', { retentionPeriodDays: 1824 }],
  ['postRetentionLock', { legalHold: true, lockedBy: null }],
  ['postAgentsRegister', { proofOfPossession: 'A'.repeat(4412) }],
  ['postAttest', { agentSalt: 'A'.repeat(43) }],
  ['postAttest', { agentSignature: 'A'.repeat(4412) }],
  ['postAttest', { clientTimestamp: '2026-11-21' }],
  ['postAttest', { clientTimestamp: '2026-11-21T09:30:00' }],
  ['postTieredAttest', { agentSalt: 'A'.repeat(43) }],
  ['postIncident', { incidentPeriodStart: '2026-11-21T09:30' }],
  ['postIncident', { reportability: 'not-reportable', rationale: null }],
  ['postNotice', { decisionId: null, subjectRef: null }],
  ['postEvidencePacks', { sources: null, systems: null }],
  ['postEvidencePacks', { systems: ['lending'] }],
  ['postSignUp', { email: 'ada@example@org' }],
  ['postSignUp', { email: 'ada@203.0.113.7' }],
  ['postSignUp', { email: 'ada@localhost' }],
  ['postLostKey', { email: 'ada@example@org' }],
  ['postPeople', { email: 'ada@localhost' }],
];
/** The same, and they are of the form. */
const FIT: readonly (readonly [operation: string, change: JsonObject])[] = [
  ['postKeys', { preset: null, scopes: ['proof:read'] }],
  ['postKeys', { addresses: ['203.0.113.7', '2001:db8::/32', '::1', '1:2:3:4:5:6:7:8/128'] }],
  ['postKeys', { expiresAt: '2099-12-31T23:59:60Z' }],
  ['postRetentionLock', { retentionPeriodDays: 1825 }],
  ['postRetentionLock', { legalHold: true }],
  ['postAttest', { clientTimestamp: '2016-12-31T23:59:60Z' }],
  ['postIncident', { incidentPeriodStart: '2016-12-31T23:59:60Z' }],
  ['postIncident', { incidentPeriodStart: '2026-11-01' }],
  ['postIncident', { reportability: 'not-reportable', rationale: 'nobody was harmed' }],
  ['postIncident', { reportability: 'reportable', rationale: null }],
  ['postNotice', { decisionId: null, subjectRef: 'applicant-2207' }],
  ['postNotice', { subjectRef: null }],
  ['postRiskAssessment', { assessmentDate: '2026-11-20T09:30:00+01:00' }],
];

/** The example with some members changed; null leaves one out. */
async function changed(
  id: string,
  change: JsonObject,
): Promise<{ operation: Operation; path: string; body: JsonObject }> {
  const operation = document.operation(id);
  const { path, body } = await newWorld().request(operation, 'whole');
  if (!isJsonObject(body)) throw new TypeError(`${id}: the example is no object`);
  const members = Object.entries({ ...body, ...change }).filter(([, value]) => value !== null);
  return { operation, path, body: Object.fromEntries(members) };
}

test('conditions and forms are documented as they are checked', async () => {
  const faults: string[] = [];
  for (const [list, isFit] of [
    [UNFIT, false],
    [FIT, true],
  ] as const) {
    for (const [id, change] of list) {
      const { operation, path, body } = await changed(id, change);
      const answer = await ask(operation, path, body);
      const isOfSchema = judge.of(operation.request?.schema ?? {})(body) === null;
      if (isOfSchema !== isFit) {
        faults.push(`${id} ${JSON.stringify(change)}: the document ${isOfSchema ? 'takes' : 'refuses'} it`);
      }
      if ((answer.status === 200) !== isFit) {
        faults.push(`${id} ${JSON.stringify(change)}: ${answer.status} ${answer.text}`);
      }
    }
  }
  assert.equal(faults, []);
});

test('a period of days begins with the first and ends before the last', async () => {
  await node.post('/v1/attest', { sourceId: 'days', data: { n: 1 } }, { key: makerKey });
  const day = (offset: number): string => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);
  const found = async (from: string, to: string): Promise<number> => {
    const path = `/v1/attestations?sourceId=days&from=${from}&to=${to}`;
    const { body } = requireAccepted(path, await node.get(path, { key: makerKey }));
    return Array.isArray(body.items) ? body.items.length : -1;
  };
  assert.is(await found(day(-1), day(2)), 1);
  assert.is(await found(day(-2), day(-1)), 0);
});

/** Of the same account. */
async function otherKeys(): Promise<OtherKeys> {
  const scopes = new Set(document.operations.flatMap(({ scope }) => (scope === null ? [] : [scope])));
  const lacking = new Map<string, string>();
  for (const scope of scopes) {
    const other = [...scopes].find((candidate) => candidate !== scope);
    lacking.set(scope, await createKey({ name: `not for ${scope}`, scopes: [other ?? scope] }));
  }
  const { body } = await node.post('/v1/keys', { name: 'ends', preset: 'admin' }, { key: makerKey });
  const { id } = isJsonObject(body.key) ? body.key : {};
  await node.send('POST', `/v1/keys/${String(id)}/revoke`, undefined, { key: makerKey });
  return { revoked: String(body.apiKey), lacking };
}

/** Well-formed, and of nothing that is there. */
function exampleAsItIs({ template, parameters, request }: Operation): Omit<Trial, 'what'> {
  const inPath = parameters.filter(({ place }) => place === 'path');
  let path = template;
  for (const { name, example } of inPath) path = path.replace(`{${name}}`, encodeURIComponent(example));
  return { path, body: request?.examples[0] };
}

test.run();
