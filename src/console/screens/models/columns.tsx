import { useMemo } from 'react';
import { Dot } from '../../design/Chip.tsx';
import { Ago } from '../../design/Time.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import type { Column } from '../../list/column.ts';
import { ScreenLink } from '../../shell/links.tsx';
import css from './Models.module.css';
import type { Model } from './model.ts';
import { texts } from './texts.ts';

export type ModelRow = Model & { modified: number | undefined; isDangling: boolean };

const Provider = ({ row }: { row: ModelRow }) => {
  const t = useTexts(texts);
  return (
    <span className={css.dangling} title={row.isDangling ? t('provider.missing') : undefined}>
      {row.isDangling && <Dot tone="error" />}
      <ScreenLink to={`/providers?edit=${encodeURIComponent(row.provider_id)}`}>{row.provider_id}</ScreenLink>
    </span>
  );
};

const Price = ({ row }: { row: ModelRow }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const { input_token_price_per_million_usd: input, output_token_price_per_million_usd: output } = row;
  const said = (price: number | undefined): string => (price === undefined ? '—' : format.usd(price));
  if (input === undefined && output === undefined) return <span className={css.quiet}>—</span>;
  return (
    <span title={t('price.note')}>
      {said(input)} / {said(output)}
    </span>
  );
};

const modalitiesOf = ({ modalities }: ModelRow): string =>
  [modalities?.input, modalities?.output]
    .map((kinds) => kinds?.join(', ') ?? '')
    .filter(Boolean)
    .join(' → ');

export const useModelColumns = (): Column<ModelRow>[] => {
  const t = useTexts(texts);
  const format = useFormat();
  return useMemo(
    () => [
      {
        id: 'id',
        label: t('column.id'),
        always: true,
        value: (row) => row.id,
        cell: (row, mark) => <span className={css.mono}>{mark(row.id)}</span>,
      },
      {
        id: 'provider',
        label: t('column.provider'),
        value: (row) => row.provider_id,
        cell: (row) => <Provider row={row} />,
      },
      {
        id: 'upstream',
        label: t('column.upstream'),
        value: (row) => row.upstream_model,
        cell: (row, mark) => <span className={css.mono}>{mark(row.upstream_model)}</span>,
      },
      {
        id: 'window',
        label: t('column.window'),
        align: 'end',
        value: (row) => row.context_window,
        cell: (row) => (row.context_window === undefined ? '—' : format.compact(row.context_window)),
      },
      {
        id: 'price',
        label: t('column.price'),
        align: 'end',
        value: (row) => row.input_token_price_per_million_usd,
        text: () => '',
        cell: (row) => <Price row={row} />,
      },
      {
        id: 'modalities',
        label: t('column.modalities'),
        value: modalitiesOf,
        cell: (row) => <span className={css.quiet}>{modalitiesOf(row) || '—'}</span>,
      },
      {
        id: 'modified',
        label: t('column.modified'),
        value: (row) => row.modified,
        text: () => '',
        cell: (row) => <Ago at={row.modified} />,
      },
    ],
    [t, format],
  );
};
