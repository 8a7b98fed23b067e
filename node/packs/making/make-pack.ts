import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { hashText } from '../../../protocol/hash.ts';
import { catalogue } from '../../../protocol/frameworks/catalogue.ts';
import { canonicalize } from '../../../protocol/json/canonical.ts';
import { PACK_FILES, PACK_FORMAT, type PackManifest, packStatement } from '../../../protocol/pack/manifest.ts';
import { readPieces } from '../../accounts/audit-log/audit-reader.ts';
import type { PortCaller } from '../../concurrency/port-call.ts';
import { nativeSuite } from '../../keys/native-suite.ts';
import type { Reads } from '../../store/store.ts';
import { PACK_FILE, type PackCalls, type PackOrder, type PackWord } from '../pack-calls.ts';
import { askedFrameworks } from '../report/gap-section.ts';
import { PackTally } from '../report/pack-tally.ts';
import { readmeText } from '../report/readme.ts';
import { CSV_HEAD, csvLine } from '../report/records-csv.ts';
import { reportPage } from '../report/report-page.ts';
import { reportPdf } from '../report/report-pdf.ts';
import { packReport } from '../report/report.ts';
import { type AskedOfNode, askedOfOther, askedOfOwn } from './asked-records.ts';
import { ContainerFile, type Content } from './container-file.ts';
import { erasedRecords, erasuresText } from './erased-file.ts';
import { LineFile } from './line-file.ts';
import { otherSources } from './other-sources.ts';
import { GROWING } from './record-files.ts';
import { RecordStage } from './record-stage.ts';

const AUDIT_LOG_FILE = 'audit-log.jsonl';

type MadeOrder = Omit<PackOrder, 'port'>;

/**
 * Makes the pack of an order in its folder: its records, what is said of them, and the container of it all. What was
 * marked as done before is gone on with; everything else is made anew, to the same bytes. Throws `PackError`.
 */
export async function makePack(
  order: MadeOrder,
  store: Reads,
  calls: Pick<PortCaller<PackCalls>, 'call'>,
): Promise<Extract<PackWord, { kind: 'made' }>> {
  const { pack, node, folder } = order;
  const { question, reach, generator, catalogueVersion, replaced } = pack;
  const asked = await askedOf(order, store);
  const tally = new PackTally(question, reach);
  const records = await new RecordStage(
    {
      folder,
      store,
      calls,
      question,
      taker: tally,
      tableLine: (record) => csvLine(record, question),
      tableHead: CSV_HEAD,
    },
    asked,
  ).run();
  const erased = erasedRecords(tally.erasedIds, asked);
  const auditLines = await writeAuditLog(order, store);
  const manifest: Omit<PackManifest, 'files'> = {
    v: 1,
    type: 'pack',
    format: PACK_FORMAT,
    node,
    generator,
    catalogueVersion,
    question,
    reach: [...reach],
    records,
  };
  const others = await otherSources(
    store,
    question,
    reach.find((one) => one.node === node),
  );
  const report = packReport({ manifest, tally, erased, replaced, auditLines, others });
  const contents = {
    ...growing(folder),
    ...texts({
      [PACK_FILES.readme]: readmeText(manifest),
      [PACK_FILES.page]: reportPage(report),
      [PACK_FILES.federation]: order.federation,
      [PACK_FILES.frameworks]: frameworksText(order),
      [PACK_FILES.erasures]: erasuresText(erased, replaced),
    }),
    [PACK_FILES.report]: { bytes: await reportPdf(report, new Date(question.asOf)) },
    [PACK_FILES.auditLog]: { path: join(folder, AUDIT_LOG_FILE) },
    [PACK_FILES.verifierPage]: { path: order.verifiers.page },
    [PACK_FILES.verifierScript]: { path: order.verifiers.script },
  };
  return writeContainer(folder, contents, manifest, calls);
}

/** In order of the nodes' names, and where the account has no record at a node, none of it. */
async function askedOf({ node, pack: { question, reach } }: MadeOrder, store: Reads): Promise<readonly AskedOfNode[]> {
  const asked: AskedOfNode[] = [];
  for (const one of reach.toSorted((a, b) => (a.node < b.node ? -1 : 1))) {
    asked.push(await (one.node === node ? askedOfOwn(store, question, one) : askedOfOther(store, question, one)));
  }
  return asked;
}

/** The lines of the account's log that the first asking fixed; how many there are. */
async function writeAuditLog({ folder, pack }: MadeOrder, store: Reads): Promise<number> {
  await using file = await LineFile.open(join(folder, AUDIT_LOG_FILE), 0);
  let lines = 0;
  if (pack.auditLog !== null) {
    for await (const piece of readPieces(store, pack.question.account, pack.auditLog)) {
      for (const line of piece) await file.append(line);
      lines += piece.length;
    }
  }
  await file.flush();
  return lines;
}

function frameworksText({ pack: { question } }: MadeOrder): string {
  const { catalogueVersion, asOf, disclaimer } = catalogue;
  return canonicalize({ catalogueVersion, asOf, disclaimer, frameworks: [...askedFrameworks(question)] });
}

function growing(folder: string): Readonly<Record<string, Content>> {
  return {
    [PACK_FILES.batches]: { path: join(folder, GROWING.batches) },
    [PACK_FILES.groups]: { path: join(folder, GROWING.groups) },
    [PACK_FILES.records]: { path: join(folder, GROWING.records) },
    [PACK_FILES.table]: { path: join(folder, GROWING.table) },
  };
}

function texts(files: Readonly<Record<string, string>>): Readonly<Record<string, Content>> {
  return Object.fromEntries(Object.entries(files).map(([name, text]) => [name, { bytes: Buffer.from(text) }]));
}

/** Crash order: the container takes its name once all of it is on the disk. */
async function writeContainer(
  folder: string,
  contents: Readonly<Record<string, Content>>,
  manifest: Omit<PackManifest, 'files'>,
  calls: Pick<PortCaller<PackCalls>, 'call'>,
): Promise<Extract<PackWord, { kind: 'made' }>> {
  const path = join(folder, PACK_FILE);
  await using container = await ContainerFile.create(`${path}.part`);
  for (const name of Object.values(PACK_FILES)) {
    const content = contents[name];
    if (content !== undefined) await container.add(name, content);
  }
  const files = container.files.map(({ name, size, sha256 }) => ({ path: name, bytes: size, sha256 }));
  const text = packStatement.write({ ...manifest, files });
  const signature = await calls.call('sign', text);
  await container.add(PACK_FILES.manifest, { bytes: Buffer.from(text) });
  await container.add(PACK_FILES.signature, { bytes: Buffer.from(canonicalize(signature)) });
  const bytes = await container.finish();
  await rename(`${path}.part`, path);
  return { kind: 'made', manifestHash: hashText(nativeSuite, text), records: manifest.records, bytes };
}
