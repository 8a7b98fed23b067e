import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { CertificateFacts } from '../../../node/certificates/certificate-facts.ts';
import { certificatePdf } from '../../../node/certificates/certificate-page.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { PAYLOAD_STATES } from '../../../protocol/verdict/payload.ts';
import type { Problem } from '../../../protocol/verdict/problem.ts';
import { EXIT_CODES, type Word } from '../../../protocol/verdict/word.ts';
import { CHILD_ENVIRONMENT } from '../../fixtures/child-environment.ts';
import { EXAMPLE_FACTS, EXAMPLE_PROOF } from './example-facts.ts';
import { openPdf } from './opened-pdf.ts';

const ROOT = join(import.meta.dirname, '../../..');
/** The lower margin of the page, in points. */
const MARGIN = 42;
/** How much of the lowest line is below its baseline. */
const DESCENT = 3;
/** Words that claim more than a node may say of its own record. */
const CLAIMS = /\bproven\b|\bverified\b|\bcompliant\b/i;
const HOSTILE = '\u202eevil\u0000\n) Tj ET endstream endobj %%EOF <</S/JavaScript>> \\u{41} 𝔘😀\ud800';
const run = promisify(execFile);

type Changes = Partial<Omit<CertificateFacts, 'verdict'>> & { readonly verdict?: Partial<CertificateFacts['verdict']> };

function factsWith({ verdict = {}, ...changes }: Changes = {}): CertificateFacts {
  return { ...EXAMPLE_FACTS, ...changes, verdict: { ...EXAMPLE_FACTS.verdict, ...verdict } };
}

async function opened(changes: Changes = {}) {
  return openPdf(await certificatePdf(factsWith(changes), EXAMPLE_PROOF));
}

function textOf(bytes: Uint8Array | undefined): string {
  return Buffer.from(bytes ?? []).toString();
}

test('the page says who found what, who signed and witnessed, and what it does not prove', async () => {
  const { text, pages, code } = await opened();
  assert.is(pages, 1);
  for (const part of [
    'Consistent with the federation that this node names.',
    'Reported by node us: node eu signed this record on 2026-11-21 14:03:28.107 UTC',
    'the ledger decided its batch on 2026-11-21 14:03:30.500 UTC; us, jp vouched for it.',
    EXAMPLE_FACTS.id,
    EXAMPLE_FACTS.keyId,
    '(testnet, topic 0.0.4242, message 8812)',
    'us, jp (of roster 2)',
    'What this does not prove',
    'A PDF proves nothing by itself: the attached file does; check it with meridian-verify',
    createHash('sha256').update(EXAMPLE_PROOF).digest('hex'),
  ]) {
    assert.ok(text.includes(part), part);
  }
  for (const check of Object.keys(EXAMPLE_FACTS.verdict.checks)) {
    assert.match(text, new RegExp(`holds .*\\(${check}\\)`));
  }
  assert.is(code, EXAMPLE_FACTS.pageUrl);
});

test('the file is attached as it is, as the data that the page is about', async () => {
  const { source, attachments } = await opened();
  assert.match(source, /\/AFRelationship \/Data/);
  assert.match(source, /\/AF \[\d+ 0 R\]/);
  assert.match(source, /\/EmbeddedFiles/);
  const [file] = attachments;
  assert.is(attachments.length, 1);
  assert.is(file?.name, `proof-${EXAMPLE_FACTS.id}.json`);
  assert.is(textOf(file?.bytes), EXAMPLE_PROOF);
  const asserted = { account: 'acc_eu_a', sourceId: 's', model: null };
  assert.is((await opened({ asserted })).attachments[0]?.name, `bundle-${EXAMPLE_FACTS.id}.json`);
});

test('the same facts make the same bytes, in another process, at another time and in another time zone', async () => {
  const first = await certificatePdf(EXAMPLE_FACTS, EXAMPLE_PROOF);
  assert.ok(Buffer.from(await certificatePdf(EXAMPLE_FACTS, EXAMPLE_PROOF)).equals(first));
  const script =
    "const { certificatePdf } = await import('./node/certificates/certificate-page.ts');" +
    "const { EXAMPLE_FACTS, EXAMPLE_PROOF } = await import('./test/node/certificates/example-facts.ts');" +
    "const { createHash } = await import('node:crypto');" +
    'const pdf = await certificatePdf(EXAMPLE_FACTS, EXAMPLE_PROOF);' +
    "process.stdout.write(createHash('sha256').update(pdf).digest('hex') + new Date(0).getTimezoneOffset());";
  const expected = createHash('sha256').update(first).digest('hex');
  for (const [zone, offset] of [
    ['Asia/Tokyo', -540],
    ['America/Los_Angeles', 480],
  ] as const) {
    const env = { ...CHILD_ENVIRONMENT, TZ: zone, LANG: 'tr_TR.UTF-8' };
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { cwd: ROOT, env });
    assert.is(stdout, `${expected}${offset}`, zone);
  }
});

test('its only date is that of the ledger, or of the record where the ledger has none', async () => {
  assert.equal((await opened()).dates, ['D:20261121140330Z']);
  const unsealed = await opened({ verdict: { word: 'no-batch-yet', ledger: null, restsOn: null, witnesses: [] } });
  assert.equal(unsealed.dates, ['D:20261121140328Z']);
});

const CONSISTENT = 'Consistent with the federation that this node names. ';
const SIGNED = 'Signed by its node, and not on the ledger yet. ';
const FAILS = 'Does not hold: ';
/** How the sentence of each word begins. */
const BEGINNINGS: Readonly<Record<Word, string>> = {
  verified: CONSISTENT,
  consistent: CONSISTENT,
  'no-batch-yet': SIGNED,
  'no-decision-yet': SIGNED,
  stale: 'Stale: ',
  'too-few-checkpoints': 'Too few checkpoints: ',
  'roster-without-majority': 'Too few checkpoints: ',
  'not-signed': FAILS,
  contradicted: FAILS,
  'payload-damaged': FAILS,
  'rosters-do-not-join': FAILS,
  'pin-does-not-join': FAILS,
  'decision-mismatch': FAILS,
  misdated: FAILS,
  'not-sealed': FAILS,
};

for (const word of wordsOf(BEGINNINGS)) {
  test(`the sentence of ${word} is of its state, and none claims that a record is proven`, async () => {
    const { text } = await opened({ verdict: { word } });
    assert.ok(text.startsWith(`Meridian: certificate of a record ${BEGINNINGS[word]}`), text);
    assert.not.match(text, CLAIMS);
  });
}

function wordsOf(beginnings: Readonly<Record<Word, string>>): readonly Word[] {
  return Object.keys(beginnings).filter((name): name is Word => name in EXIT_CODES);
}

test('each state of a payload is told, and one that is not there is not checked', async () => {
  const { facts, checks } = EXAMPLE_FACTS.verdict;
  for (const payload of PAYLOAD_STATES) {
    const problem: Problem = { fact: 'payload', check: 'payloadHashMatch', code: 'payload-mismatch', detail: 'other' };
    const verdict = {
      facts: { ...facts, payload },
      checks: { ...checks, payloadHashMatch: payload === 'disclosed' },
      problems: payload === 'damaged' ? [problem] : [],
    };
    const { text } = await opened({ verdict });
    const result = payload === 'disclosed' ? 'holds' : payload === 'damaged' ? 'does not hold' : 'not checked';
    assert.ok(text.includes(`${result} The payload is the one that was recorded`), payload);
    assert.is(text.includes('erased: the key to it was destroyed'), payload === 'erased');
  }
});

test('what does not hold is named by code, and nobody is said to have signed it', async () => {
  const problem: Problem = { fact: 'signed', check: 'sigValid', code: 'signature-invalid', detail: 'of the receipt' };
  const { facts, checks } = EXAMPLE_FACTS.verdict;
  const { text } = await opened({
    verdict: {
      word: 'not-signed',
      facts: { ...facts, signed: 'fails' },
      checks: { ...checks, sigValid: false },
      problems: [problem],
    },
  });
  assert.ok(text.includes('signature-invalid: of the receipt'));
  assert.ok(text.includes('nothing shows that node eu signed this record'));
  assert.ok(text.includes('does not hold The signatures of its node hold (sigValid)'));
});

test('hostile texts are shown as characters, and break neither page nor file', async () => {
  const asserted = { account: HOSTILE, sourceId: HOSTILE, model: HOSTILE };
  const { lines, source, attachments, pages } = await opened({ asserted });
  assert.is(pages, 1);
  const text = lines.join('');
  assert.ok(text.includes('\\u{202e}evil\\u{0}\\u{a}) Tj ET'));
  assert.ok(text.includes('\\u{5c}u{41} \\u{1d518}\\u{1f600}\\u{d800}'));
  assert.not.ok(source.includes('/S/JavaScript'));
  assert.is(source.match(/%%EOF/g)?.length, 1);
  assert.is(textOf(attachments[0]?.bytes), EXAMPLE_PROOF);
});

test('the longest of everything is one page, with nothing below its margin', async () => {
  const detail = '\u{10ffff}'.repeat(4_000);
  const problems = Array.from({ length: 40 }, (): Problem => {
    return { fact: 'signed', check: 'sigValid', code: 'roster-without-majority', detail };
  });
  const { ledger } = EXAMPLE_FACTS.verdict;
  assert.ok(ledger);
  const members = Array.from({ length: 256 }, (_, i) => nodeId(`${i < 128 ? 'ww' : 'mm'}${i % 100}`));
  const { pages, lowest, text } = await opened({
    pageUrl: `https://${'w'.repeat(248)}/v/${EXAMPLE_FACTS.id}`,
    verdict: {
      word: 'stale',
      problems,
      witnesses: members,
      ledger: { ...ledger, network: 'w'.repeat(500), isLate: true },
    },
    asserted: { account: `acc_eu_${'W'.repeat(57)}`, sourceId: 'W'.repeat(256), model: '\u{10ffff}'.repeat(4_000) },
  });
  assert.is(pages, 1);
  assert.ok(lowest > MARGIN + DESCENT, `${lowest} points`);
  assert.ok(text.includes('How to check it'));
});

test.run();
