import type { Template, TemplatePoint } from './template.ts';

type From = TemplatePoint['from'][number];

/** Records of a kind that show these facts, and meet these conditions. */
function of(kind: From['anyOf'][number], facts: string, ...where: readonly string[]): From {
  return { anyOf: [kind], facts: facts.split(' '), ...(where.length > 0 && { where: [...where] }) };
}

function point(id: string, title: string, help: string, source: string, ...from: readonly From[]): TemplatePoint {
  return { id, title, help, source, from };
}

const FRIA_SOURCE = 'Regulation (EU) 2024/1689 Art. 27';
const FRIA: Template = {
  name: 'fria',
  version: '1',
  title: 'Fundamental rights impact assessment',
  description: 'The content of Art. 27(1)(a) to (f) of the EU AI Act, for deployers. No official form is taken over.',
  points: [
    point(
      'system',
      'System',
      'Which system, for which purpose, in which role.',
      FRIA_SOURCE,
      of('system', 'systemRef'),
    ),
    point(
      'processes',
      'Processes',
      'The deployer’s processes in which the system is used.',
      `${FRIA_SOURCE}(1)(a)`,
      of('impact_assessment', 'processes'),
    ),
    point(
      'usePeriod',
      'Period and frequency',
      'For how long and how often it is used.',
      `${FRIA_SOURCE}(1)(b)`,
      of('impact_assessment', 'usePeriod'),
    ),
    point(
      'affectedGroups',
      'Persons and groups',
      'Categories of natural persons and groups likely to be affected.',
      `${FRIA_SOURCE}(1)(c)`,
      of('impact_assessment', 'affectedGroups'),
    ),
    point(
      'specificRisks',
      'Risks of harm',
      'Specific risks of harm to them.',
      `${FRIA_SOURCE}(1)(d)`,
      of('impact_assessment', 'specificRisks'),
    ),
    point(
      'oversightMeasures',
      'Human oversight',
      'How human oversight is implemented.',
      `${FRIA_SOURCE}(1)(e)`,
      of('impact_assessment', 'oversightMeasures'),
      of('assignment', 'person', 'capacity=human-oversight'),
    ),
    point(
      'riskMeasures',
      'Measures if risks materialise',
      'Measures, internal governance and complaint mechanisms.',
      `${FRIA_SOURCE}(1)(f)`,
      of('impact_assessment', 'riskMeasures'),
    ),
    point(
      'firstUse',
      'First use',
      'When it is first used.',
      `${FRIA_SOURCE}(2)`,
      of('impact_assessment', 'firstUseAt'),
    ),
    point(
      'dpia',
      'Data protection impact assessment',
      'The assessment that this one complements.',
      `${FRIA_SOURCE}(4)`,
      of('impact_assessment', 'dpiaRef'),
    ),
    point(
      'authority',
      'Notification',
      'That the market surveillance authority was notified of the results.',
      `${FRIA_SOURCE}(3)`,
      of('notification', 'sentAt', 'to=authority', 'regime=eu-ai-act-27'),
    ),
  ],
};

const ANNEX_IV = 'Regulation (EU) 2024/1689 Annex IV';
const ANNEX_POINTS = [
  [
    '1',
    'General description',
    'Purpose, provider, version, interaction with other systems, forms, hardware, interface.',
  ],
  ['2(a)', 'Methods and steps of development', 'Including pre-trained systems and third-party tools.'],
  ['2(b)', 'Design specifications', 'Logic, design choices, what is optimised for, trade-offs.'],
  ['2(c)', 'Architecture', 'Components and computing resources.'],
  ['2(d)', 'Data requirements', 'Datasheets: provenance, scope, labelling, cleaning.'],
  ['2(e)', 'Human oversight measures', 'Assessment of the measures under Art. 14.'],
  ['2(f)', 'Pre-determined changes', 'Changes that were foreseen, and how performance stays.'],
  ['2(g)', 'Validation and testing', 'Data, metrics, test logs, dated and signed reports.'],
  ['2(h)', 'Cybersecurity', 'Measures put in place.'],
  ['3', 'Monitoring, functioning and control', 'Capabilities, limits, accuracy, foreseeable unintended outcomes.'],
  ['4', 'Performance metrics', 'Why they are appropriate.'],
  ['5', 'Risk management', 'The system under Art. 9.'],
  ['6', 'Changes through the lifecycle', 'Relevant changes made by the provider.'],
  ['7', 'Standards', 'Harmonised standards, or other solutions.'],
  ['8', 'Declaration of conformity', 'A copy of it.'],
  ['9', 'Post-market monitoring', 'The system and its plan under Art. 72.'],
] as const;

/** What is recorded for a point beside documents that name it. */
const ANNEX_RECORDS: Readonly<Record<string, readonly From[]>> = {
  '1': [of('system', 'systemRef')],
  '2(a)': [of('supplier', 'component')],
  '2(d)': [of('dataset', 'datasetRef')],
  '2(e)': [of('assignment', 'person', 'capacity=human-oversight')],
  '2(g)': [of('evaluation', 'performedAt', 'evalType=test|evalType=validation')],
  '2(h)': [of('evaluation', 'performedAt', 'evalType=cybersecurity|evalType=robustness')],
  '4': [of('evaluation', 'metrics')],
  '5': [of('risk_assessment', 'risksIdentified')],
  '6': [of('document', 'sha256', 'docType=change-record')],
  '8': [of('conformity', 'outcome'), of('document', 'sha256', 'docType=eu-declaration-of-conformity')],
  '9': [of('document', 'sha256', 'docType=post-market-monitoring-plan')],
};

const TECHNICAL_DOCUMENTATION: Template = {
  name: 'technical-documentation',
  version: '1',
  title: 'Technical documentation by the points of Annex IV',
  description:
    'Which documents and records there are for each point of Annex IV of the EU AI Act. A document is listed under the ' +
    'points that its `annexPoint` names, as `IV(2)(d)`. The documents themselves stay with their owner.',
  points: ANNEX_POINTS.map(([number, title, help]) =>
    point(
      `point${number.replaceAll(/[()]/g, '')}`,
      `${number} ${title}`,
      help,
      `${ANNEX_IV}(${number})`,
      ...(ANNEX_RECORDS[number] ?? []),
      of('document', 'sha256', annexPointCondition(number)),
    ),
  ),
};

function annexPointCondition(number: string): string {
  const [, digits = '', letter] = /^(\d+)(\([a-z]\))?$/.exec(number) ?? [];
  return `annexPoint=IV(${digits})${letter ?? ''}`;
}

const FORM = 'Commission, draft reporting form for Art. 73 of 26 September 2025';
const INCIDENT_REPORT: Template = {
  name: 'incident-report',
  version: 'draft-2025-09-26',
  title: 'Report of a serious incident, by the draft form of the Commission of 26 September 2025',
  description:
    'By the DRAFT form of 26 September 2025; whether it became final is not known here. Which clock applies is not ' +
    'determined.',
  isOfIncident: true,
  points: [
    point(
      'report',
      'Report type and dates',
      'Initial, follow-up or final; when it was sent.',
      FORM,
      of('notification', 'reportType sentAt'),
    ),
    point(
      'incident',
      'Incident',
      'Date or range, detection, severity, criteria of Art. 3(49).',
      FORM,
      of('incident', 'severity'),
    ),
    point(
      'awareness',
      'Awareness',
      'When the reporter became aware, and of reportability.',
      FORM,
      of('incident', 'awarenessAt|reportabilityKnownAt'),
    ),
    point('reporter', 'Reporter', 'In which capacity it is reported.', FORM, of('incident', 'role')),
    point(
      'system',
      'System',
      'EU database id, model and version.',
      FORM,
      of('system', 'systemRef'),
      of('incident', 'euDatabaseId|modelId|systemRef'),
    ),
    point(
      'authorities',
      'Authorities',
      'Member States concerned and authorities told.',
      FORM,
      of('incident', 'memberStates'),
      of('notification', 'authority|memberState'),
    ),
    point('description', 'Description', 'What happened, and to whom.', FORM, of('incident', 'description')),
    point(
      'otherLaw',
      'Reports under other law',
      'Under which other laws it is reported.',
      FORM,
      of('incident', 'reportedUnder'),
    ),
    point(
      'rationale',
      'If not reportable',
      'Why it was found not reportable.',
      `${FORM}, 4.2(b)`,
      of('incident', 'rationale', 'reportability=not-reportable'),
    ),
    point(
      'actions',
      'Corrective actions',
      'What was done, and what is planned.',
      FORM,
      of('corrective_action', 'nonconformityDescription'),
    ),
    point(
      'riskAssessment',
      'Risk assessment',
      'Whether it was reviewed.',
      FORM,
      of('incident', 'riskAssessmentReviewed=true'),
      of('risk_assessment', 'risksIdentified'),
    ),
    point('next', 'Next report', 'When the next report is expected.', FORM, of('incident', 'nextReportAt')),
  ],
};

const MRM = 'SR 26-2 / OCC 2026-13';
const MODEL_VALIDATION: Template = {
  name: 'model-validation',
  version: '1',
  title: 'Summary of a model’s validation',
  description: 'What a validator recorded of a model. Generative and agentic systems are outside the bank guidance.',
  points: [
    point('model', 'Model', 'Which model, for which purpose, of which type.', MRM, of('system', 'systemRef')),
    point(
      'materiality',
      'Materiality',
      'How much depends on it.',
      MRM,
      of('document', 'sha256', 'docType=model-materiality-assessment'),
    ),
    point(
      'validation',
      'Validation',
      'When, by whom, with which outcome.',
      MRM,
      of('evaluation', 'performedAt outcome', 'evalType=validation'),
    ),
    point(
      'independence',
      'Independence',
      'Whether the validator was independent.',
      MRM,
      of('evaluation', 'performedBy independent=true', 'evalType=validation'),
    ),
    point('findings', 'Findings', 'What was found.', MRM, of('evaluation', 'findings', 'evalType=validation')),
    point(
      'limitations',
      'Limits',
      'Where the model must not be relied on.',
      MRM,
      of('evaluation', 'limitations', 'evalType=validation'),
    ),
    point(
      'monitoring',
      'Ongoing monitoring',
      'What is measured since.',
      MRM,
      of('evaluation', 'performedAt', 'evalType=monitoring'),
    ),
    point('vendors', 'Vendors', 'Components of third parties.', MRM, of('supplier', 'component')),
    point(
      'next',
      'Next validation',
      'Until when it holds.',
      MRM,
      of('evaluation', 'validUntil', 'evalType=validation'),
    ),
  ],
};

const LL144 = 'NYC Admin. Code 20-871, 6 RCNY 5-300 ff.';
const BIAS_AUDIT: Template = {
  name: 'bias-audit-summary',
  version: '1',
  title: 'Summary of a bias audit',
  description: 'What an employer publishes of the audit of a tool that decides on employment.',
  points: [
    point('tool', 'Tool', 'Which tool, and since when it is used.', LL144, of('system', 'systemRef')),
    point(
      'audit',
      'Audit',
      'When it was made, within one year before use.',
      LL144,
      of('evaluation', 'performedAt outcome', 'evalType=bias-audit'),
    ),
    point(
      'auditor',
      'Auditor',
      'Whether the auditor was independent.',
      LL144,
      of('evaluation', 'performedBy independent=true', 'evalType=bias-audit'),
    ),
    point(
      'ratios',
      'Selection rates and impact ratios',
      'By sex and race or ethnicity.',
      LL144,
      of('evaluation', 'metrics', 'evalType=bias-audit'),
    ),
    point(
      'data',
      'Data',
      'Source and explanation of the data.',
      `${LL144}, 5-302`,
      of('evaluation', 'datasetRef', 'evalType=bias-audit'),
      of('dataset', 'datasetRef'),
    ),
    point(
      'publication',
      'Publication',
      'The published summary and the date of distribution.',
      '20-871(a)(2)',
      of('document', 'sha256', 'docType=bias-audit-summary'),
    ),
    point('notice', 'Notices', 'Notices to candidates before use.', '20-871(b)', of('notice', 'givenAt')),
  ],
};

/** Every template, by name. */
export const TEMPLATES: ReadonlyMap<string, Template> = new Map(
  [FRIA, TECHNICAL_DOCUMENTATION, INCIDENT_REPORT, MODEL_VALIDATION, BIAS_AUDIT].map((one) => [one.name, one]),
);
