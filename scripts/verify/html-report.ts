import type { ExitCode } from '../../protocol/verdict/word.ts';
import type { UNREADABLE } from './judge-file.ts';
import { plain } from './report.ts';

/** What came of one file, line by line: the verdict first, and again at the end. */
export interface ReportedFile {
  readonly file: string;
  readonly exitCode: ExitCode | typeof UNREADABLE;
  readonly lines: readonly string[];
}

const STYLE = `body{margin:2rem auto;max-width:60rem;padding:0 1rem;font:1rem/1.5 system-ui,sans-serif}
h1,h2,pre{overflow-wrap:anywhere;white-space:pre-wrap}pre{font:.9rem ui-monospace,monospace;border-left:4px solid;padding-left:1rem}
@media print{body{margin:0}}`;

/**
 * A page to read and print, of one or several files: text alone, with nothing that loads or runs. `summary`: what several
 * come to.
 */
export function htmlReport(files: readonly ReportedFile[], summary: string | null): string {
  const headline = summary ?? files[0]?.lines[0] ?? 'NOTHING VERIFIED';
  const sections = files.map(({ file, exitCode, lines }) => {
    return `<section><h2>${escaped(file)}</h2><pre data-exit="${exitCode}">${escaped(lines.join('\n'))}</pre></section>`;
  });
  return `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>${escaped(headline)}</title><style>${STYLE}</style></head>
<body><main><h1>${escaped(headline)}</h1>
${sections.join('\n')}
<p>${escaped(headline)}</p></main></body></html>
`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text of others: what could hide or turn around is shown as an escape, and nothing of it is markup. */
function escaped(text: string): string {
  const lines = text.split('\n').map(plain).join('\n');
  return lines.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
