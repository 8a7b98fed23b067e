import { REGIME_PERIODS } from '../../protocol/compliance/regime-clocks.ts';
import type { Catalogue, Clause, FactNeed } from '../../protocol/frameworks/catalogue-shape.ts';
import { spoken } from '../../protocol/frameworks/condition.ts';

const PART = /(<!-- (rows|clocks): ([\w, -]+) -->\n)[\s\S]*?(<!-- end -->)/g;

/**
 * A page with the parts between `<!-- rows: FRAMEWORK -->` or `<!-- clocks: regime, regime -->` and `<!-- end -->` made
 * from the catalogue. Throws `RangeError` where a mark names what is not there.
 */
export function pageWithParts(page: string, catalogue: Catalogue): string {
  return page.replaceAll(PART, (_, start: string, part: string, names: string, end: string) => {
    const lists = names.split(', ').map((name) => (part === 'rows' ? rowsOf(name, catalogue) : clocksOf(name)));
    const head = part === 'rows' ? '' : CLOCKS_HEAD;
    return `${start}\n${head}${lists.join(part === 'rows' ? '\n\n' : '\n')}\n\n${end}`;
  });
}

function rowsOf(id: string, { frameworks, catalogueVersion }: Catalogue): string {
  const framework = frameworks.find((candidate) => candidate.id === id);
  if (framework === undefined) throw new RangeError(`no framework ${id}`);
  const { title, note, clauses } = framework;
  const table = [
    '| clause | what it asks | whose duty | from | what a report looks for | check |',
    '|---|---|---|---|---|---|',
    ...clauses.map(rowOf),
  ];
  const lists = [
    list('Where a clause stands', clauses, ({ statusNote }) => statusNote),
    list('When it applies', clauses, ({ appliesNote }) => appliesNote),
    list('Exceptions', clauses, ({ derogation }) => derogation),
    list('What is older', clauses, ({ legacyRule }) => legacyRule),
    list('Sources', clauses, ({ source, checked }) => (checked === undefined ? source : `${source}; read: ${checked}`)),
    list('Never checked', clauses, ({ neverChecked }) => neverChecked),
  ];
  const about = `\`${id}\` of catalogue ${catalogueVersion}: ${title}.${note === undefined ? '' : ` ${note}`}`;
  return [about, table.join('\n'), ...lists.filter((text) => text !== '')].join('\n\n');
}

function rowOf({ clause, requirement, dutyHolder, status, event, needs, check, ...dates }: Clause): string {
  const { appliesFrom, appliesFromByClass = {} } = dates;
  const from = [
    ...(appliesFrom === null ? [] : [appliesFrom]),
    ...Object.entries(appliesFromByClass).flatMap(([name, day]) => (day === appliesFrom ? [] : [`${name} ${day}`])),
    status,
  ];
  const asked = needs.map(needText).join('; ');
  const looksFor = event === undefined ? asked : `of each ${aboutText(event)}: ${asked}`;
  const cells = [clause, requirement, dutyHolder.join(', '), from.join(', '), looksFor, check];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function needText(need: FactNeed): string {
  const { facts, standing, maxAgeDays, optional } = need;
  const words = [
    ...(optional === true ? ['optional'] : []),
    ...(standing === true ? ['in force'] : []),
    ...(maxAgeDays === undefined ? [] : [`at most ${maxAgeDays} days old`]),
  ];
  return `${aboutText(need)} with ${spoken(facts)}${words.length === 0 ? '' : ` (${words.join(', ')})`}`;
}

function aboutText({ anyOf, where }: Pick<FactNeed, 'anyOf' | 'where'>): string {
  return `${anyOf.join(' or ')}${where === undefined ? '' : ` [${spoken(where)}]`}`;
}

/** What clauses say, each text once, before the clauses that say it. */
function list(
  title: string,
  clauses: readonly Clause[],
  of: (clause: Clause) => string | readonly string[] | undefined,
) {
  const said = clauses.flatMap((clause) => [of(clause) ?? []].flat().map((text) => ({ text, clause: clause.clause })));
  if (said.length === 0) return '';
  const lines = [...Map.groupBy(said, ({ text }) => text)].map(
    ([text, places]) => `* ${text} (${places.map(({ clause }) => clause).join('; ')})`,
  );
  return `**${title}**\n\n${lines.join('\n')}`;
}

const CLOCKS_HEAD = '| clock | starts with | period | to whom | source | check |\n|---|---|---|---|---|---|\n';

function clocksOf(regime: string): string {
  const clocks = REGIME_PERIODS.filter((period) => period.regime === regime);
  if (clocks.length === 0) throw new RangeError(`no clock of ${regime}`);
  return clocks
    .map(({ ref, trigger, value, unit, recipient, source, check }) => {
      const period = value === null ? unit.replaceAll('-', ' ') : `${value} ${unit}`;
      return `| ${regime} ${ref} | ${trigger} | ${period} | ${recipient} | ${source} | ${check} |`;
    })
    .join('\n');
}
