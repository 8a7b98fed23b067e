import {
  FRAMEWORK_EXAMPLE,
  FRAMEWORKS_EXAMPLE,
  type FrameworkAnswer,
  FrameworkAnswerShape,
  type FrameworksAnswer,
  FrameworksAnswerShape,
} from '../../../protocol/api/frameworks.ts';
import { catalogue, frameworkOf } from '../../../protocol/frameworks/catalogue.ts';
import { type Clause, type Framework, FrameworkShape } from '../../../protocol/frameworks/catalogue-shape.ts';
import { fieldsOf } from '../../../protocol/frameworks/gap.ts';
import { heldBody } from '../entity-tag.ts';
import { Problem } from '../problem.ts';
import type { Answer, FreeRoute } from '../route.ts';

/** The catalogue changes with the version of the node alone. In seconds. */
const MAX_AGE_SECONDS = 3600;
/** Characters of an unknown id that its refusal repeats. */
const MAX_ECHOED = 64;
const HEADERS = {
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': `public, max-age=${MAX_AGE_SECONDS}`,
};

/** `GET /v1/frameworks`: laws, standards and guidance that records can be evidence for. */
export function frameworksRoute(): FreeRoute {
  const answer = written(listAnswer());
  return {
    method: 'GET',
    path: '/v1/frameworks',
    access: 'free',
    documentation: {
      summary: 'Laws, standards and guidance that records can be evidence for',
      description: 'A catalogue with a version. Nothing in it says whether anybody meets a clause.',
      answer: { shape: FrameworksAnswerShape, example: FRAMEWORKS_EXAMPLE },
      problems: [],
    },
    answer: async () => answer,
  };
}

/** `GET /v1/frameworks/:id`: every clause of one, with the records and fields that evidence it. */
export function frameworkRoute(): FreeRoute {
  const answers = new Map(catalogue.frameworks.map((framework) => [framework.id, written(answerOf(framework))]));
  return {
    method: 'GET',
    path: '/v1/frameworks/:id',
    access: 'free',
    documentation: {
      summary: 'One framework: its clauses, and the records that can evidence each',
      description:
        'Every need of `evidence` asks for one record: of one of its kinds, for which each condition of `where` ' +
        'holds, and that shows each of its fields. `optional` needs are counted and never missed. `needs` are the same ' +
        'under `evidence-rules/2`: signed facts of records of their own kinds, `standing` ones as of the end of a report.',
      params: {
        id: {
          description: 'Id of a framework.',
          shape: FrameworkShape.properties.id,
          example: FRAMEWORK_EXAMPLE.id,
        },
      },
      answer: { shape: FrameworkAnswerShape, example: FRAMEWORK_EXAMPLE },
      problems: ['framework-not-found'],
    },
    async answer({ params: { id = '' } }) {
      const answer = answers.get(id);
      if (answer === undefined) throw frameworkNotFound(id);
      return answer;
    },
  };
}

/** Throws `Problem` 404. */
export function requireFramework(id: string): Framework {
  const framework = frameworkOf(id);
  if (framework === undefined) throw frameworkNotFound(id);
  return framework;
}

function frameworkNotFound(id: string): Problem {
  const known = catalogue.frameworks.map((framework) => framework.id).join(', ');
  return new Problem(
    'framework-not-found',
    `The catalogue has no framework ${JSON.stringify(id.slice(0, MAX_ECHOED))}, but ${known}.`,
  );
}

/** The text is made once: the catalogue does not change while the node runs. */
function written(body: FrameworksAnswer | FrameworkAnswer): Answer {
  return { ...heldBody(JSON.stringify(body)), headers: HEADERS };
}

function listAnswer(): FrameworksAnswer {
  const { catalogueVersion, asOf, disclaimer, frameworks } = catalogue;
  return {
    success: true,
    catalogueVersion,
    asOf,
    disclaimer,
    frameworks: frameworks.map(entryOf),
  };
}

function entryOf(framework: Framework): FrameworksAnswer['frameworks'][number] {
  return { ...titleOf(framework), clauses: framework.clauses.length };
}

function answerOf(framework: Framework): FrameworkAnswer {
  const { catalogueVersion, asOf, disclaimer, checkLegend } = catalogue;
  return {
    success: true,
    catalogueVersion,
    asOf,
    disclaimer,
    checkLegend,
    ...titleOf(framework),
    clauses: framework.clauses.map((clause) => clauseAnswer(framework, clause)),
  };
}

function titleOf({ id, title, edition, authority, note }: Framework) {
  return { id, title, edition: edition ?? null, authority, note: note ?? null };
}

function clauseAnswer({ id }: Framework, clause: Clause): FrameworkAnswer['clauses'][number] {
  const { appliesNote = null, statusNote = null, checked = null, limits = null } = clause;
  const { event = null, appliesFromByClass = null, derogation = null, legacyRule = null } = clause;
  return {
    framework: id,
    clause: clause.clause,
    requirement: clause.requirement,
    recordKinds: [...new Set(clause.evidence.flatMap(({ anyOf }) => anyOf))],
    fields: fieldsOf(clause),
    evidence: clause.evidence,
    needs: clause.needs,
    dutyHolder: clause.dutyHolder,
    trigger: clause.trigger,
    event,
    appliesFromByClass,
    derogation,
    legacyRule,
    neverChecked: clause.neverChecked,
    checkedAt: clause.checkedAt,
    appliesFrom: clause.appliesFrom,
    appliesNote,
    status: clause.status,
    statusNote,
    numbers: clause.numbers,
    source: clause.source,
    check: clause.check,
    checked,
    limits,
  };
}
