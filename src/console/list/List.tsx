import { useMemo, useState } from 'react';
import { Button, IconButton } from '../design/Button.tsx';
import { FilterSelect } from '../design/Field.tsx';
import { EmptyState } from '../design/Notice.tsx';
import { Scroller } from '../design/Scroller.tsx';
import { useFormat, useTexts } from '../i18n/locale.ts';
import { BulkBar } from './BulkBar.tsx';
import { ColumnMenu, useColumnChoice } from './ColumnMenu.tsx';
import { type Filter, FilterBar } from './FilterBar.tsx';
import { Freshness } from './Freshness.tsx';
import css from './List.module.css';
import type { ListProps } from './list-props.ts';
import { chosenColumns, SIZES } from './list-state.ts';
import { SearchBox } from './SearchBox.tsx';
import { Table } from './Table.tsx';
import listTexts from './texts.json' with { type: 'json' };
import { type Listed, useList } from './use-list.ts';
import { useQueryState } from './use-query-state.ts';

const Foot = <Row,>({ listed }: { listed: Listed<Row> }) => {
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

const NO_KEYS: readonly string[] = [];
const NO_FILTERS: readonly Filter[] = [];

/**
 * The list component of all screens (console.md 3.8): search, order, pages, columns, selection and freshness. Its state
 * is in the address, so that a link reproduces the view.
 */
export const List = <Row,>(props: ListProps<Row>) => {
  const t = useTexts(listTexts);
  const { rows, columns, rowId, filterKeys = NO_KEYS, filterBy = NO_FILTERS, isPaged = false } = props;
  const unpaged = isPaged || props.unpaged === true;
  const [frame, setFrame] = useState<HTMLElement | null>(null);
  const [choice, choose] = useColumnChoice(props.name);
  const visible = useMemo(() => chosenColumns(columns, choice), [columns, choice]);
  const listed = useList({ rows, columns: visible, usualSort: props.usualSort, unpaged, isPaged });
  const [query, setQuery] = useQueryState();
  const [selected, select] = useState<ReadonlySet<string>>(new Set());
  const keys = [...filterKeys, ...filterBy.map(({ key }) => key)];
  const isFiltered = listed.state.q !== '' || keys.some((key) => query[key] !== undefined);
  const clear = (): void =>
    setQuery({ q: undefined, page: undefined, ...Object.fromEntries(keys.map((key) => [key, undefined])) });
  if (rows.length === 0 && !isFiltered) return props.empty;
  const chosen = listed.found.filter((row) => selected.has(rowId(row)));
  return (
    <div className={`stack ${css.list}`}>
      <div className="row">
        <SearchBox
          value={listed.state.q}
          placeholder={props.searchPlaceholder ?? t('search')}
          onChange={(q) => listed.change({ q })}
        />
        {filterBy.length > 0 && <FilterBar filters={filterBy} />}
        {props.filters}
        <span className={css.push} />
        {props.tools}
        {props.fresh && <Freshness {...props.fresh} />}
        <ColumnMenu columns={columns} choice={choice} onChange={choose} />
      </div>
      {chosen.length > 0 && (
        <BulkBar
          name={props.name}
          rows={chosen}
          actions={props.bulk ?? []}
          exported={props.exported}
          onClear={() => select(new Set())}
        />
      )}
      {listed.found.length === 0 ? (
        <EmptyState
          title={t('common.noMatch')}
          actions={<Button onClick={clear}>{t('clearFilters')}</Button>}
        >
          {t('noMatchText')}
        </EmptyState>
      ) : (
        <>
          <Scroller label={t('rows')} className={`frame ${css.frame}`} ref={setFrame} tall={unpaged}>
            <Table
              {...props}
              columns={visible}
              listed={listed}
              frame={frame}
              selected={selected}
              select={select}
            />
          </Scroller>
          {!unpaged && (listed.found.length > SIZES[0] || listed.state.page > 1) && <Foot listed={listed} />}
        </>
      )}
      {props.after && <div className="row center small number">{props.after}</div>}
    </div>
  );
};
