import { parentPort } from 'node:worker_threads';
import { survey, type SurveyAnswer, type SurveyOrder } from './edition-survey.ts';
import { ListError } from './list-error.ts';

// The other thread of `surveyed` (./edition-survey.ts), which alone starts it: reads one edition and ends.
parentPort?.on('message', async (order: SurveyOrder) => parentPort?.postMessage(await answer(order), []));

async function answer({ directory, edition }: SurveyOrder): Promise<SurveyAnswer> {
  try {
    return { content: await survey(directory, edition) };
  } catch (error) {
    if (error instanceof ListError) return { code: error.code, message: error.message };
    throw error;
  }
}
