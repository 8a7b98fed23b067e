import { EXAMPLE_HASH } from '../api/example-ids.ts';
import { sha256Hash } from '../hash.ts';
import { recordId } from '../ids.ts';
import { type Declaration, flag, name, sha256, text, word } from './declaration.ts';

/** `POST /v1/dataset`: a version of a data set, what it is used for, and what was looked at in it. */
export const DATASET: Declaration = {
  kind: 'dataset',
  object: 'dataset',
  idMember: 'datasetId',
  path: '/v1/dataset',
  listPath: '/v1/datasets',
  summary: 'Records a version of a data set and how it is governed',
  description:
    'Which data a system is trained, validated or tested with, by the hash of its file; where it comes from, whether it ' +
    'was examined for bias, and whether it holds special categories of personal data. The data itself is never sent.',
  members: {
    datasetRef: name(),
    version: name(),
    use: word(['train', 'validate', 'test', 'operate']),
    sha256: sha256(),
    origin: text(),
    gaps: text(),
    legalBasis: text(),
    biasExamined: flag(),
    specialCategories: flag(),
    systemRef: name(),
  },
  required: ['datasetRef', 'version', 'use'],
  example: {
    datasetRef: 'applications-2026-q3',
    version: '2',
    use: 'test',
    sha256: EXAMPLE_HASH,
    origin: 'Own applications of the third quarter, without withdrawn ones',
    biasExamined: true,
    specialCategories: false,
    systemRef: 'credit-scoring',
  },
  exampleId: recordId('att_eu_01KAJ8H8J9K0M1N2P3Q4R5S6T7'),
  exampleFacts: {
    biasExamined: true,
    datasetRef: 'applications-2026-q3',
    sha256: sha256Hash(EXAMPLE_HASH),
    specialCategories: false,
    systemRef: 'credit-scoring',
    use: 'test',
    version: '2',
  },
};
