import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MemberClocks } from '../../../node/log/member-clocks.ts';
import { nodeId } from '../../../protocol/ids.ts';

const MEMBERS = ['eu', 'us', 'ca', 'sg', 'jp'].map(nodeId);
const [, US, CA, SG, JP] = MEMBERS.map((node) => node);
const MINUTE = 60_000;

/** `eu` among five, on clocks of its own. */
function openFixture() {
  const fixture = { now: 1_763_717_400_000, monotonic: 5_000 };
  const clocks = new MemberClocks({
    now: () => fixture.now,
    members: () => MEMBERS,
    monotonic: () => fixture.monotonic,
  });
  const pass = (milliseconds: number) => {
    fixture.now += milliseconds;
    fixture.monotonic += milliseconds;
  };
  const tell = (node: (typeof MEMBERS)[number] | undefined, ahead: number, roundTrip = 0) => {
    if (node !== undefined) clocks.note(node, fixture.now + ahead - roundTrip / 2, roundTrip);
  };
  return { fixture, clocks, pass, tell };
}

test('a clock is off where more than half of all members have another time, and not before', () => {
  const { clocks, tell } = openFixture();
  assert.not(clocks.isOff, 'nobody was asked');
  tell(US, 3 * MINUTE);
  tell(CA, -3 * MINUTE);
  assert.not(clocks.isOff, 'two of five');
  tell(SG, 3 * MINUTE);
  assert.ok(clocks.isOff, 'three of five');
  tell(SG, MINUTE);
  assert.not(clocks.isOff);
});

test('a step of the own clock is seen at once, without asking anybody', () => {
  const { fixture, clocks, pass, tell } = openFixture();
  for (const node of [US, CA, SG, JP]) tell(node, 500);
  pass(20 * 1000);
  assert.not(clocks.isOff);
  fixture.now += 60 * MINUTE;
  assert.ok(clocks.isOff, 'an hour forward');
  fixture.now -= 120 * MINUTE;
  assert.ok(clocks.isOff, 'an hour back');
  fixture.now += 60 * MINUTE;
  assert.not(clocks.isOff);
});

test('a machine that was suspended asks again: its monotonic clock stood still', () => {
  const { fixture, clocks, tell } = openFixture();
  for (const node of [US, CA, SG, JP]) tell(node, 0);
  fixture.now += 30 * MINUTE;
  assert.ok(clocks.isOff);
  for (const node of [US, CA, SG, JP]) tell(node, 0);
  assert.not(clocks.isOff);
});

test('a clock is right where enough members have its time, and while there is no other to ask', () => {
  const { fixture, clocks, pass, tell } = openFixture();
  assert.not(clocks.isRight, 'nobody was asked');
  tell(US, MINUTE);
  assert.not(clocks.isRight, 'the other three may have another');
  tell(CA, -MINUTE);
  assert.ok(clocks.isRight);
  fixture.now += 3 * MINUTE;
  assert.not(clocks.isRight, 'two of five have another, and two may');
  fixture.now -= 3 * MINUTE;
  pass(11 * MINUTE);
  assert.not(clocks.isRight, 'long ago');
  const alone = new MemberClocks({ now: () => fixture.now, members: () => MEMBERS.slice(0, 1) });
  assert.ok(alone.isRight);
});

test('half of the way is taken off, a long way says nothing, and an old reading nothing any more', () => {
  const { clocks, pass, tell } = openFixture();
  tell(US, 10 * MINUTE, 4_000);
  assert.equal(
    clocks.differences().map(({ difference }) => difference),
    [10 * MINUTE],
  );
  tell(CA, 10 * MINUTE, 31_000);
  assert.is(clocks.differences().length, 1);
  pass(11 * MINUTE);
  assert.equal(clocks.differences(), []);
});

test.run();
