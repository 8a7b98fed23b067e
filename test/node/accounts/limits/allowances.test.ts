import { readFile } from 'node:fs/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  ADDRESS_ALLOWANCE,
  ADDRESS_PERMANENT_BYTES_PER_DAY,
  ALL_MEMBERS_ALLOWANCE,
  CONNECTIONS,
  ENDPOINT_LIMITS,
  MEMBER_ALLOWANCE,
  SIGN_IN_ALLOWANCE,
  SIGN_UP_ALLOWANCE,
  TIER_LIMITS,
  WALLET_ALLOWANCE,
} from '../../../../node/accounts/limits/allowances.ts';
import {
  BODY_BYTES,
  CLASS_BOUNDS,
  HOLDER_SHARE,
  LEDGER_WAITS,
} from '../../../../node/accounts/limits/route-weights.ts';

const MIB = 1 << 20;
/** What a node may grow by under attack. */
const MOST_GROWTH_BYTES = 200 * MIB;
const page = await readFile(new URL('../../../../node/README.md', import.meta.url), 'utf8');

/** The row of a table that begins so. */
function row(start: string): string {
  const found = page.split('\n').find((line) => line.startsWith(`| ${start}`));
  if (found === undefined) throw new Error(`the page has no row ${start}`);
  return found;
}

function says(text: string, ...numbers: readonly number[]): void {
  for (const number of numbers) {
    assert.ok(text.includes(number.toLocaleString('en-US')), `${number} is not in: ${text}`);
  }
}

test('the limits of api-rules §8 are exact', () => {
  const { developer, standard, professional, enterprise } = TIER_LIMITS;
  assert.equal(
    [developer, standard, professional, enterprise].map(({ requestsPerMinute, recordsPerDay }) => [
      requestsPerMinute,
      recordsPerDay,
    ]),
    [
      [60, 1_000],
      [600, 100_000],
      [1_200, 1_000_000],
      [6_000, null],
    ],
  );
  assert.is(ENDPOINT_LIMITS['POST /v1/attest']?.requestsPerMinute, 60);
});

test('the operator’s page says the bounds of every class', () => {
  for (const [of, { places, waiting }] of Object.entries(CLASS_BOUNDS)) {
    assert.is(waiting, 0, `${of}: the page says that nobody waits`);
    assert.match(row(`\`${of}\``), new RegExp(`\\| ${places.toLocaleString('en-US')} \\|$`));
  }
  assert.is(HOLDER_SHARE, 0.5, 'the page says half');
  says(row('| callers who wait'), LEDGER_WAITS.places);
  const { arriving, arrivingBatches, records, batches, shortBundles, longBundles } = BODY_BYTES;
  says(row('bodies that are arriving'), arriving / MIB, arrivingBatches / MIB);
  says(row('bodies that records are made of'), records / MIB, batches / MIB);
  says(row('bundles up to 256 KiB'), shortBundles / MIB, longBundles / MIB);
  const together = Object.values(BODY_BYTES).reduce((sum, bytes) => sum + bytes, 0);
  assert.ok(together <= MOST_GROWTH_BYTES, `${together / MIB} MiB of bodies`);
  assert.ok(page.includes(`bodies are ${together / MIB} MiB together`), 'the page says how much they are together');
  says(row('connections;'), CONNECTIONS, ADDRESS_ALLOWANCE.connections);
});

test('the operator’s page says every allowance', () => {
  const { freeRequestsPerMinute, pricesPerMinute, refusedPaymentsPerMinute, signUpsPerHour, signUpsPerDay } =
    ADDRESS_ALLOWANCE;
  const permanentKiB = ADDRESS_PERMANENT_BYTES_PER_DAY >> 10;
  says(
    row('an address'),
    freeRequestsPerMinute,
    pricesPerMinute,
    refusedPaymentsPerMinute,
    signUpsPerHour,
    signUpsPerDay,
    permanentKiB,
  );
  for (const { requestsPerMinute, recordsPerDay } of Object.values(TIER_LIMITS)) {
    says(row('an account'), ...[requestsPerMinute, recordsPerDay].filter((limit) => limit !== null));
  }
  const {
    paidCallsPerMinute,
    unpaidCallsPerMinute,
    unpaidCallBytes,
    callsUnderWay,
    preparedBytes,
    newcomerPreparedBytes,
  } = WALLET_ALLOWANCE;
  says(
    row('a wallet'),
    paidCallsPerMinute,
    unpaidCallsPerMinute,
    unpaidCallBytes >> 10,
    callsUnderWay,
    preparedBytes / MIB,
    newcomerPreparedBytes / MIB,
  );
  const { perHour, perDay, mailsPerRecipientAndDay } = SIGN_UP_ALLOWANCE;
  says(row('all who sign up'), perHour, perDay, mailsPerRecipientAndDay);
  const links = SIGN_IN_ALLOWANCE;
  says(row('links to sign in'), links.perAddressAndHour, links.toOneRecipientAndHour, links.perRecipientAndDay);
  const { processorMsPerMinute, requestsPerSecond, requestsUnderWay, pagesUnderWay, streams } = MEMBER_ALLOWANCE;
  const { answerBytes, messagesPerSecond, arrivalsPerSecond, bytesPerMinute } = MEMBER_ALLOWANCE;
  says(row('a member'), processorMsPerMinute / 1_000, requestsPerSecond, requestsUnderWay, pagesUnderWay, streams);
  says(row('a member'), answerBytes / MIB, messagesPerSecond, arrivalsPerSecond, bytesPerMinute / MIB / 1_024);
  const all = ALL_MEMBERS_ALLOWANCE;
  says(row('all members'), all.processorMsPerMinute / 1_000, all.requestsPerSecond, all.requestsUnderWay);
});

test.run();
