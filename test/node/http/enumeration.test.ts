import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AddressList } from '../../../node/outbound/address-list.ts';
import { SIGN_UP_ALLOWANCE } from '../../../node/accounts/limits/allowances.ts';
import type { HttpAnswer } from '../../fixtures/test-node.ts';
import { TestMailSink } from '../../fixtures/mail-sink.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import { until } from '../../fixtures/until.ts';
import { requireProblem } from './problem-shape.ts';

/** What nobody may learn by asking: which addresses have an account. */
const sink = await TestMailSink.start();
const network = await TestNetwork.start({
  config: { mail: sink.config },
  trustedProxies: new AddressList(['127.0.0.1']),
});
const node = network.node();
test.after(async () => {
  await network[Symbol.asyncDispose]();
  await sink[Symbol.asyncDispose]();
});

/** The first has no account before it is asked for in a test. */
const SIGNED_UP = 'signed-up@example.org';
const [UNUSED, IN_USE, BY_OPERATOR] = ['unused@example.org', 'in-use@example.org', 'operator@example.org'];
/** Headers that differ from answer to answer, whatever was asked. */
const OF_THE_MOMENT = new Set(['date', 'x-request-id']);
/** Rows of accounts and of what is done with them. */
const WATCHED = new Set(['sign-up', 'account', 'account-key', 'lost-key', 'audit-entry']);

let callers = 0;

/** Each request comes from an address of its own. */
function ask(path: string, email: string, from = `2001:db8:${(++callers).toString(16)}::1`): Promise<HttpAnswer> {
  return node.post(path, { email }, { key: null, headers: { 'x-forwarded-for': from } });
}

function shown({ status, headers, text }: HttpAnswer) {
  return { status, text, headers: [...headers].filter(([name]) => !OF_THE_MOMENT.has(name)) };
}

/**
 * What was asked of the store, by tables, each look-up once however many rows it came to, and which mails were there
 * when something was written.
 */
function watch() {
  const { store } = node.context;
  const [get, range, write] = [store.get.bind(store), store.range.bind(store), store.write.bind(store)];
  const trace: string[] = [];
  const before = sink.kept.length;
  const tableOf = (key = '') => key.split('/')[0] ?? '';
  const note = (what: string, key: string | undefined): void => {
    const line = `${what} ${tableOf(key)}`;
    if (WATCHED.has(tableOf(key)) && trace.at(-1) !== line) trace.push(line);
  };
  store.get = (key) => {
    note('get', key);
    return get(key);
  };
  store.range = (options) => {
    note('range', options.gte ?? options.gt);
    return range(options);
  };
  store.write = (operations) => {
    if (operations.some(({ key }) => WATCHED.has(tableOf(key)))) {
      trace.push(`write after ${sink.kept.length - before} mails`);
    }
    return write(operations);
  };
  return {
    trace,
    [Symbol.dispose]() {
      Object.assign(store, { get, range, write });
    },
  };
}

test('the addresses are known, each in its own way', async () => {
  await ask('/v1/sign-up', UNUSED);
  await sink.waitForMail(UNUSED);
  await ask('/v1/sign-up', IN_USE);
  const [apiKey = ''] = /^mk_\S+$/m.exec((await sink.waitForMail(IN_USE)).text) ?? [];
  const { accounts } = node.context;
  assert.is.not(typeof (await accounts.authenticate(apiKey)), 'string');
  const { id } = await accounts.create({ tier: 'standard', email: BY_OPERATOR });
  await accounts.keys.create(id, { preset: 'admin' }, 'operator');
});

test('a sign-up is answered alike, and looks up, mails and writes the same in the same order, for every address', async () => {
  const seen = [];
  for (const email of [SIGNED_UP, UNUSED, IN_USE, BY_OPERATOR]) {
    const mails = sink.kept.length;
    using watched = watch();
    const answer = await ask('/v1/sign-up', email);
    const lookedUp = watched.trace.slice(0, 3);
    const writes = watched.trace.filter((line) => line.startsWith('write'));
    seen.push({ email, is: { ...shown(answer), mails: sink.kept.length - mails, lookedUp, writes } });
    assert.match((await sink.waitForMail(email)).subject, /Meridian/, email);
  }
  const [first] = seen;
  assert.equal(first?.is.lookedUp, ['get sign-up', 'get account', 'range account-key']);
  assert.equal([first?.is.mails, first?.is.writes], [1, ['write after 1 mails']]);
  for (const { email, is } of seen) assert.equal(is, first?.is, email);
});

test('a request for lost keys is answered alike, while nothing is known yet of the address', async () => {
  const { store } = node.context;
  const get = store.get.bind(store);
  const { promise: mayLook, resolve: letLook } = Promise.withResolvers<void>();
  let looked = 0;
  store.get = async (key) => {
    if (!key.startsWith('sign-up/')) return get(key);
    looked++;
    await mayLook;
    return get(key);
  };
  const before = sink.kept.length;
  const known = [SIGNED_UP, UNUSED, IN_USE, BY_OPERATOR];
  const strangers = ['stranger-1@example.org', 'stranger-2@example.org'];
  const answers: HttpAnswer[] = [];
  for (const email of [...strangers, ...known]) answers.push(await ask('/v1/lost-key', email));
  const [first] = answers.map(shown);
  for (const [index, answer] of answers.entries()) assert.equal(shown(answer), first, [...strangers, ...known][index]);
  await until('each is looked up', () => looked === answers.length);
  assert.is(sink.kept.length, before, 'all are answered, and nobody is known yet');
  store.get = get;
  letLook();
  for (const email of known) assert.match((await sink.waitForMail(email)).text, '/v1/lost-key/');
  const recipients = sink.kept.slice(before).flatMap(({ to }) => to);
  assert.equal(recipients.toSorted(), known.toSorted(), 'nobody else had a mail');
});

test('limits refuse known and unknown addresses alike, and no sooner', async () => {
  for (const path of ['/v1/sign-up', '/v1/lost-key']) {
    const refused = [];
    for (const email of [IN_USE, `limit-${path.slice(4)}@example.org`]) {
      const answers: HttpAnswer[] = [];
      // The known address was asked for before: its day begins with what is left of it.
      do answers.push(await ask(path, email));
      while (answers.at(-1)?.status === 200);
      assert.ok(answers.length <= SIGN_UP_ALLOWANCE.mailsPerRecipientAndDay + 1);
      const last = answers.at(-1);
      if (last === undefined) throw new Error('nothing was asked');
      requireProblem(last, 'rate-limited', `${path} ${email}`);
      const { requestId: _id, ...body } = last.body;
      refused.push({ body, headers: [...last.headers.keys()].filter((name) => !OF_THE_MOMENT.has(name)) });
    }
    assert.equal(refused[1], refused[0], path);
  }
});

test.run();
