import type { ModelGap, Models } from './models.ts';

export type UnknownModelWarning = {
  code: 'model_unknown';
  severity: 'warning';
  resource: { namespace: 'models'; id: string };
  message: string;
};

/** Reports models with data that neither their entry, nor their provider, nor the catalog contains. */
export const unknownModels = (models: Pick<Models, 'gaps'>): UnknownModelWarning[] =>
  models.gaps().map((gap) => ({
    code: 'model_unknown',
    severity: 'warning',
    resource: { namespace: 'models', id: gap.id },
    message: `${subjectOf(gap)}: ${consequencesOf(gap).join('; ')}`,
  }));

const subjectOf = ({ id, upstream }: ModelGap): string =>
  `model '${id}' has the upstream name '${upstream}', which is not in the catalog of models`;

const consequencesOf = ({ lacksWindow, lacksPrices }: ModelGap): string[] => [
  ...(lacksWindow
    ? ["its context window is unknown, so that histories are not fitted to it (set 'context_window')"]
    : []),
  ...(lacksPrices
    ? [
        "its prices are unknown, so that its inferences have no cost (set 'input_token_price_per_million_usd' and 'output_token_price_per_million_usd')",
      ]
    : []),
];
