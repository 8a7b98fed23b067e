import { createHash } from 'node:crypto';
import { encodeQR } from 'qr';
import { type AssertedFacts, attachmentName, type CertificateFacts } from './certificate-facts.ts';
import {
  checkLines,
  FILE_DECIDES,
  ledgerWords,
  NOT_SHOWN,
  payloadWords,
  reportOf,
  sentenceOf,
  timeWords,
  witnessWords,
} from './certificate-words.ts';
import { printable } from './printable-text.ts';
import { QUIET_INK, Sheet } from './sheet.ts';

/** Of the side of the QR code, in points. */
const CODE_SIZE = 92;
/** Of a text that somebody else wrote. */
const MAX_SHOWN = 150;
/** Of a list of members, or of what speaks against a record. */
const MAX_LISTED = 300;
/** What speaks against a record: the first of these. */
const MAX_PROBLEMS = 3;

/**
 * The certificate of a record: one page, with the file that proves the record inside. `proof`: the text of that file.
 * The same facts and the same file make the same bytes.
 */
export function certificatePdf(facts: CertificateFacts, proof: string): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = Buffer.from(proof);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const at = new Date(facts.verdict.ledger?.at ?? facts.submittedAt);
  const sheet = new Sheet({ title: `Certificate of ${facts.id}`, at });
  sheet.code(
    encodeQR(facts.pageUrl, 'raw', { ecc: 'medium', border: 1 }),
    printable(facts.pageUrl, MAX_LISTED),
    CODE_SIZE,
  );
  writeVerdict(sheet, facts);
  writeRecord(sheet, facts);
  writeChecks(sheet, facts);
  writeFile(sheet, facts, { sha256, length: bytes.byteLength });
  const { asserted } = facts;
  const what = asserted === null ? 'public proof' : 'bundle';
  const description = `The ${what} of ${facts.id}, as its node answers it`;
  return sheet.finish({ name: attachmentName(facts), type: 'application/json', description, bytes });
}

function writeVerdict(sheet: Sheet, facts: CertificateFacts): void {
  const { verdict, id } = facts;
  sheet.paragraph('Meridian: certificate of a record', { color: QUIET_INK });
  sheet.title(sentenceOf(facts));
  sheet.paragraph(printable(id, MAX_SHOWN), { face: 'mono', size: 10, lines: 1 });
  sheet.paragraph(printable(reportOf(facts), MAX_LISTED), { lines: 4 });
  for (const { code, detail } of verdict.problems.slice(0, MAX_PROBLEMS)) {
    sheet.paragraph(printable(`${code}: ${detail}`, MAX_SHOWN));
  }
}

function writeRecord(sheet: Sheet, facts: CertificateFacts): void {
  const { node, kind, submittedAt, keyId, verdict, asserted } = facts;
  sheet.heading('The record');
  sheet.row('Kind', printable(kind, MAX_SHOWN), { lines: 1 });
  sheet.row('Submitted', `${timeWords(submittedAt)}, by the clock of its node`, { lines: 1 });
  sheet.row('Signed by', printable(`node ${node}, by ML-DSA-65 (FIPS 204) and this key`, MAX_SHOWN), { lines: 1 });
  sheet.row('', keyId, { face: 'mono', lines: 1 });
  sheet.row('On the ledger', printable(ledgerWords(verdict.ledger), MAX_SHOWN));
  sheet.row('Witnessed by', printable(witnessWords(facts), MAX_LISTED), { lines: 3 });
  sheet.row('Payload', payloadWords(facts), { lines: 1 });
  if (asserted !== null) writeAsserted(sheet, asserted);
}

/** What the account said, and nobody checked. */
function writeAsserted(sheet: Sheet, { account, sourceId, model }: AssertedFacts): void {
  sheet.row('Account', printable(account, MAX_SHOWN), { lines: 1 });
  sheet.row('Source, as asserted', printable(sourceId, MAX_SHOWN));
  sheet.row('Model, as asserted', model === null ? 'none named' : printable(model, MAX_SHOWN));
}

function writeChecks(sheet: Sheet, facts: CertificateFacts): void {
  sheet.heading(`Five checks, as node ${printable(facts.reportedBy, MAX_SHOWN)} made them`);
  for (const { check, name, result } of checkLines(facts)) {
    sheet.row(result, `${name} (${check})`, { lines: 1 }, 'bold');
  }
}

interface FileFacts {
  readonly sha256: string;
  readonly length: number;
}

function writeFile(sheet: Sheet, facts: CertificateFacts, { sha256, length }: FileFacts): void {
  const { asserted, verdict } = facts;
  sheet.heading('The federation that this node names');
  sheet.row('Fingerprint', verdict.federation ?? 'not to be read', { face: 'mono', lines: 1 });
  sheet.heading('The attached file');
  const what =
    asserted === null
      ? 'the public proof: it shows id, kind, node and time of the record, and no more'
      : 'the bundle: it shows what the account said of the record, without its payload';
  sheet.row('What it is', what, { lines: 1 });
  sheet.row('Name', attachmentName(facts), { face: 'mono', lines: 1 });
  sheet.row('Length', `${length} bytes`, { lines: 1 });
  sheet.row('SHA-256', sha256, { face: 'mono', lines: 1 });
  sheet.heading('What this does not prove');
  for (const line of NOT_SHOWN) sheet.paragraph(`• ${line}`);
  sheet.heading('How to check it');
  sheet.paragraph(FILE_DECIDES, { face: 'bold' });
}
