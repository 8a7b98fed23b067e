import { parentPort, workerData } from 'node:worker_threads';
import { survey, type SurveyAnswer } from './edition-survey.ts';
import { ListError } from './list-error.ts';

// The other thread of `surveyed` (./edition-survey.ts), which alone starts it: reads one edition and ends.
parentPort?.postMessage(await answer(), []);

async function answer(): Promise<SurveyAnswer> {
  const { directory, edition } = workerData;
  try {
    return { content: await survey(directory, edition) };
  } catch (error) {
    if (error instanceof ListError) return { code: error.code, message: error.message };
    throw error;
  }
}
