import { IconButton } from '../design/Button.tsx';
import { FilterSelect } from '../design/Field.tsx';
import { useFormat, useTexts } from '../i18n/locale.ts';
import { SIZES } from './list-state.ts';
import listTexts from './texts.json' with { type: 'json' };
import type { Listed } from './use-list.ts';

export const Foot = <Row,>({ listed }: { listed: Listed<Row> }) => {
  const t = useTexts(listTexts);
  const format = useFormat();
  const { page, size } = listed.state;
  const count = listed.found.length;
  const [from, to] = [(page - 1) * size + 1, Math.min(page * size, count)];
  return (
    <div className="row end small number">
      <FilterSelect
        label={t('perPage')}
        value={String(size)}
        options={SIZES.map((known) => [String(known), String(known)])}
        onChange={(value) => listed.change({ size: Number(value) })}
      />
      <span>
        {t('range', { from: format.number(from), to: format.number(to), count: format.number(count) })}
      </span>
      <span className="row">
        <IconButton
          small
          icon="chevronLeft"
          label={t('previous')}
          disabled={page <= 1}
          onClick={() => listed.change({ page: page - 1 })}
        />
        <IconButton
          small
          icon="chevronRight"
          label={t('next')}
          disabled={to >= count}
          onClick={() => listed.change({ page: page + 1 })}
        />
      </span>
    </div>
  );
};
