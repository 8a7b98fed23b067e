import { Compile } from '../shape-check.ts';
import { type Catalogue, CatalogueShape, type Clause, type Framework } from './catalogue-shape.ts';
import head from './data/catalogue.json' with { type: 'json' };
import euAiAct from './data/eu-ai-act.json' with { type: 'json' };
import finra from './data/finra.json' with { type: 'json' };
import iso42001 from './data/iso-42001.json' with { type: 'json' };
import mifid from './data/mifid-ii.json' with { type: 'json' };
import nist from './data/nist-ai-rmf.json' with { type: 'json' };
import sec from './data/sec-17a-4.json' with { type: 'json' };
import bank2011 from './data/us-bank-mrm-2011.json' with { type: 'json' };
import bank2026 from './data/us-bank-mrm-2026.json' with { type: 'json' };
import consumerCredit from './data/us-consumer-credit.json' with { type: 'json' };
import states from './data/us-state.json' with { type: 'json' };

const compiled = Compile(CatalogueShape);

/** Which records can evidence which clause of which framework. Data, read from the files beside, and checked. */
export const catalogue: Catalogue = readCatalogue({
  ...head,
  frameworks: [euAiAct, iso42001, nist, bank2026, bank2011, consumerCredit, states, finra, sec, mifid],
});

/** Clauses that are stayed or rescinded are shown to those alone who ask for their framework. */
export const frameworksInUse: readonly Framework[] = catalogue.frameworks.map((framework) => ({
  ...framework,
  clauses: framework.clauses.filter(({ status }) => status !== 'stayed' && status !== 'rescinded'),
}));

const frameworks = new Map(catalogue.frameworks.map((framework) => [framework.id, framework]));

export function frameworkOf(id: string): Framework | undefined {
  return frameworks.get(id);
}

export function clauseOf(framework: string, clause: string): Clause | undefined {
  return frameworks.get(framework)?.clauses.find((candidate) => candidate.clause === clause);
}

/** Throws `TypeError` where the files hold anything but a catalogue. */
export function readCatalogue(value: unknown): Catalogue {
  if (compiled.Check(value)) return value;
  const [fault] = compiled.Errors(value);
  throw new TypeError(
    `the catalogue of frameworks at ${fault?.instancePath ?? ''}: ${fault?.message ?? 'other shape'}`,
  );
}
