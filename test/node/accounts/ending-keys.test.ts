import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { endingKeys } from '../../../node/accounts/ending-keys.ts';
import { TestMailSink } from '../../fixtures/mail-sink.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import { until } from '../../fixtures/until.ts';
import { Receiver } from '../alerts/receiver.ts';
import { BrowserClient } from '../http/console/browser-client.ts';
import { signedInByMail } from '../http/console/mailed-sign-in.ts';

const DAY_MS = 86_400_000;
const ADA = 'ada@example.org';

const sink = await TestMailSink.start();
const network = await TestNetwork.start({ config: { mail: sink.config } });
const node = network.node();
const receiver = await Receiver.start();
test.after(async () => {
  await network[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
  await sink[Symbol.asyncDispose]();
});

test('the end of a key is told of where it is missed: not that of a sign-in by mail, nor of a key with another in its place', async () => {
  await new BrowserClient(node).post('/sign-up', { email: ADA });
  const [key = ''] = /^mk_\S+$/m.exec((await sink.waitForMail(ADA)).text) ?? [];
  const made = async (days: number): Promise<string> => {
    const expiresAt = new Date(Date.now() + days * DAY_MS).toISOString();
    const { status, body, text } = await node.post('/v1/keys', { preset: 'ingest', expiresAt }, { key });
    assert.is(status, 200, text);
    return String(Object(body.key).id);
  };
  await signedInByMail(node, sink, ADA);
  const replaced = await made(5);
  const rotated = await node.post(`/v1/keys/${replaced}/rotate`, { overlapSeconds: 3_600 }, { key });
  assert.is(rotated.status, 200, rotated.text);
  const ending = [String(Object(rotated.body.key).id), await made(3)].toSorted();
  await node.post('/v1/webhooks', { url: receiver.url, events: ['key.expiring'] }, { key });
  const told = () => receiver.received.map(({ body }) => Object(JSON.parse(body)).data.keyId);
  for (let looks = 0; looks < 3; looks++) await node.context.dueAlerts.look();
  await until('both to be told of', () => told().length >= ending.length);
  await node.context.dueAlerts.look();
  assert.equal(told().toSorted(), ending);
  const { active, endingSoon } = Object((await node.get('/v1/overview', { key })).body.keys);
  assert.equal([active, endingSoon], [5, 2], 'with that of the sign-up, of the sign-in, and the replaced one');
  const { body } = await node.post('/v1/calendar', {}, { key });
  const path = new URL(String(body.url)).pathname.replace(/^.*(?=\/v1\/)/, '');
  const { text } = await node.get(path, { key: null });
  const inCalendar = [...text.matchAll(/^UID:(key_[^\s@]+)/gm)].map(([, id]) => id);
  assert.equal(inCalendar.toSorted(), ending);
  const { keys } = await endingKeys(node.context.store, Date.now(), 30 * DAY_MS);
  assert.equal(keys.map(({ id }) => id).toSorted(), ending, 'to the operator as well');
});

test.run();
