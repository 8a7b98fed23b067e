import { relative } from 'node:path';
import type { ClusterFile } from './cluster-file.ts';

/** What `npm start` shows: where each part is, and where to look next. */
export function clusterTable({ nodes, ledger, chain, mail }: ClusterFile, home: string): string {
  const rows = [
    ['node', 'region', 'API', 'process'],
    ...nodes.map(({ id, region, baseUrl, pid }) => [id, region, baseUrl, String(pid)]),
    ['ledger', ledger.network, ledger.mirrorUrl, String(ledger.pid)],
    chain === null
      ? ['chain', 'none', 'no anvil: paid calls answer 503']
      : ['chain', `eip155:${chain.chainId}`, chain.rpcUrl, String(chain.pid)],
    ['mail', 'SMTP sink', `smtp://127.0.0.1:${mail.smtpPort}`, String(mail.pid)],
  ];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const hints = [
    `Topic ${ledger.topicId}. Demo API keys, wallet and process ids: ${shown(home)}/cluster.json`,
    `Mails, one .eml file each: ${shown(mail.directory)}/`,
  ];
  return [...lines, '', ...hints].join('\n');
}

function shown(folder: string): string {
  return relative(process.cwd(), folder) || '.';
}
