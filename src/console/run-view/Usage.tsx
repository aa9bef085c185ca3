import { addUsd } from '../../schema/usd.ts';
import { EmptyState } from '../design/Notice.tsx';
import { useFormat, useTexts } from '../i18n/locale.ts';
import { FigureTable } from '../list/FigureTable.tsx';
import type { Span } from './span.ts';
import texts from './texts.json' with { type: 'json' };
import { type ModelUsage, usageOf } from './usage.ts';

/** @param costUsd cost of the run, which includes interrupted attempts */
export const Usage = (props: { spans: readonly Span[]; costUsd: number | undefined }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const models = usageOf(props.spans);
  if (models.length === 0) return <EmptyState title={t('usage.none')} />;
  const sum = (of: 'inferences' | 'input' | 'output'): number =>
    models.reduce((before, each) => before + each[of], 0);
  const total: ModelUsage = {
    model: t('usage.total'),
    inferences: sum('inferences'),
    input: sum('input'),
    output: sum('output'),
    cost: props.costUsd ?? models.map(({ cost }) => cost).reduce(addUsd, undefined),
  };
  return (
    <>
      <FigureTable
        label={t('view.usage')}
        columns={(['model', 'inferences', 'input', 'output', 'cost'] as const).map((each) =>
          t(`usage.${each}`),
        )}
        rows={[...models, ...(models.length > 1 || total.cost !== models[0]?.cost ? [total] : [])].map(
          (each) => ({
            key: each.model,
            name: each === total ? each.model : <code>{each.model}</code>,
            figures: [
              format.number(each.inferences),
              format.number(each.input),
              format.number(each.output),
              each.cost === undefined ? '—' : format.usd(each.cost),
            ],
          }),
        )}
      />
      <p className="quiet">{t('usage.children')}</p>
    </>
  );
};
