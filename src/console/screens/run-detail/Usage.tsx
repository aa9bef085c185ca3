import { EmptyState } from '../../design/Notice.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import css from './RunDetail.module.css';
import { texts } from './texts.ts';
import type { usageOf } from './usage.ts';

/** What its inferences took, by model. */
export const Usage = (props: { usage: ReturnType<typeof usageOf>; costUsd: number | undefined }) => {
  const { usage } = props;
  const t = useTexts(texts);
  const format = useFormat();
  const money = (cost: number | undefined): string => (cost === undefined ? t('fact.na') : format.usd(cost));
  if (usage.models.length === 0) return <EmptyState title={t('usage.none')}>{null}</EmptyState>;
  return (
    <>
      <table className={css.usage}>
        <thead>
          <tr>
            <th scope="col">{t('usage.model')}</th>
            <th scope="col" data-number>
              {t('usage.inferences')}
            </th>
            <th scope="col" data-number>
              {t('usage.input')}
            </th>
            <th scope="col" data-number>
              {t('usage.output')}
            </th>
            <th scope="col" data-number>
              {t('usage.cost')}
            </th>
          </tr>
        </thead>
        <tbody>
          {usage.models.map(({ model, inferences, input, output, cost }) => (
            <tr key={model}>
              <td>
                <code>{model}</code>
              </td>
              <td data-number>{format.number(inferences)}</td>
              <td data-number>{format.number(input)}</td>
              <td data-number>{format.number(output)}</td>
              <td data-number>{money(cost)}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">{t('usage.total')}</th>
            <td data-number>
              {format.number(usage.models.reduce((sum, { inferences }) => sum + inferences, 0))}
            </td>
            <td data-number>{format.number(usage.tokens.input)}</td>
            <td data-number>{format.number(usage.tokens.output)}</td>
            <td data-number>{money(props.costUsd)}</td>
          </tr>
        </tfoot>
      </table>
      <p className={css.note}>{t('usage.children')}</p>
    </>
  );
};
