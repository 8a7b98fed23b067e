import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { HaltReason } from '../../../node/federation/own-chain.ts';
import { type AskRosters, RosterInquiry, rostersNamed } from '../../../node/federation/roster-inquiry.ts';
import { utf8 } from '../../../protocol/bytes.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { type LedgerMessage, writeLedgerMessage } from '../../../protocol/log/message.ts';
import { rosterStatement } from '../../../protocol/log/roster.ts';
import { hashOf } from '../../protocol/log/topic.ts';
import { MemberNetwork } from './member-network.ts';
import { silent } from './member-fixture.ts';
import { until } from '../../fixtures/until.ts';

const NODES = ['eu', 'us', 'ca', 'jp'];

/** A node `jp` that nobody lets in. `shown`: what each other member shows at its public address. */
async function inquire(shown: Readonly<Record<string, readonly string[]>>, network: MemberNetwork) {
  const asked: string[] = [];
  const askRosters: AskRosters = async (baseUrl, from) => {
    const member = network.federation.members.find((each) => each.member.baseUrl === baseUrl);
    asked.push(`${member?.node} ${from}`);
    const rosters = shown[member?.node ?? ''];
    if (rosters === undefined) throw new Error('this member is down');
    return { rosters, named: [] };
  };
  let halted: HaltReason | null = null;
  const onHalt = (reason: HaltReason) => void (halted = reason);
  const jp = await network.open('jp', { askRosters, rosterPatienceMs: 10, onHalt });
  await jp.federation.start();
  return { jp, asked, halted: () => halted };
}

/** The next roster without `jp`, and with it. */
function nextOf({ federation }: MemberNetwork) {
  const all = federation.members.map(({ member }) => member);
  const without = federation.nextRoster({ members: all.filter(({ node }) => node !== 'jp'), quorum: 2 });
  return { dropping: rosterStatement.write(without), keeping: rosterStatement.write({ ...without, members: all }) };
}

test('a node that meets nobody asks the members, and halts where a majority shows a roster without it', async () => {
  await using network = await MemberNetwork.create(NODES);
  const { dropping } = nextOf(network);
  const { asked, halted } = await inquire({ eu: [dropping], us: [dropping], ca: [dropping] }, network);
  await until('jp to halt', () => halted() === 'removed');
  assert.equal(asked.toSorted(), ['ca 2', 'eu 2', 'us 2']);
});

test('the word of fewer than a majority, or of a roster that keeps the node, halts nobody', async () => {
  for (const show of [
    ({ dropping }: ReturnType<typeof nextOf>) => ({ eu: [dropping], us: [dropping] }),
    ({ dropping, keeping }: ReturnType<typeof nextOf>) => ({ eu: [dropping], us: [dropping], ca: [keeping] }),
    ({ keeping }: ReturnType<typeof nextOf>) => ({ eu: [keeping], us: [keeping], ca: [keeping] }),
    () => ({ eu: ['{}'], us: ['{}'], ca: ['{}'] }),
  ]) {
    await using network = await MemberNetwork.create(NODES);
    const { jp, asked, halted } = await inquire(show(nextOf(network)), network);
    await until('all to be asked', () => asked.length >= 3);
    // Its own close waits for the inquiry, which has judged what it heard by then.
    await jp.federation[Symbol.asyncDispose]();
    assert.is(halted(), null);
  }
});

test('a roster is heard of by any message that names one for this federation', () => {
  const [federation, statement] = [hashOf('genesis'), hashOf('next')];
  const common = { v: 2, type: 'roster', previous: federation, statement } as const;
  const said: readonly (LedgerMessage | string)[] = [
    { ...common, federation },
    { ...common, federation: hashOf('another') },
    { v: 2, type: 'revocation', federation, node: nodeId('jp'), keyId: statement, statement },
    '"type":"roster"',
    '',
  ];
  const messages = said.map((one) => ({ message: utf8(typeof one === 'string' ? one : writeLedgerMessage(one)) }));
  assert.equal(rostersNamed(federation, messages), [statement]);
});

test('a node asks nobody while a member is connected', async () => {
  await using network = await MemberNetwork.create(NODES);
  let looks = 0;
  await using inquiry = new RosterInquiry({
    self: network.id('jp'),
    currentRosters: network.federation,
    askRosters: async () => {
      throw new Error('it asked');
    },
    hasMet: () => ++looks > 0,
    onRemoved: () => assert.unreachable('it is removed'),
    rosterPatienceMs: 1,
    log: silent,
  });
  inquiry.note();
  await until('it to look', () => looks === 1);
});

test.run();
