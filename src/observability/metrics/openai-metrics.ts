import { createCounter, type Families } from './families.ts';

/** Metrics of the routes for clients of OpenAI. */
export const createOpenAiMetrics = (families: Families) => {
  const positions = createCounter(families, ['route', 'outcome'], {
    suffix: 'openai_positions_total',
    help: 'Requests of OpenAI clients by the effect on their thread',
  });
  const legs = createCounter(families, ['status'], {
    suffix: 'openai_legs_total',
    help: 'Ended requests of OpenAI clients that started or continued a run',
  });
  return {
    positioned: (route: OpenAiRoute, outcome: PositionOutcome): void => positions.add(1, route, outcome),
    legEnded: (status: string): void => legs.add(1, status),
  };
};

export type OpenAiRoute = 'chat_completions' | 'responses';
export type PositionOutcome = 'continued' | 'forked' | 'imported' | 'new';
