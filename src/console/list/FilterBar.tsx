import { Popover } from '@mantine/core';
import { Button } from '../design/Button.tsx';
import { CheckField, controlLook, FilterSelect, filterLook } from '../design/Field.tsx';
import { Icon } from '../design/Icon.tsx';
import { useFormat, useTexts } from '../i18n/locale.ts';
import css from './List.module.css';
import type { QueryChange } from './list-state.ts';
import { TextFilter } from './TextFilter.tsx';
import { listTexts } from './texts.ts';
import { useQueryState } from './use-query-state.ts';

/** A filter whose value is a query parameter of the address. */
export type Filter = { key: string; label: string } & (
  | { kind: 'choice'; options: readonly (readonly [value: string, label: string])[] }
  | { kind: 'text'; options?: readonly string[] }
  | { kind: 'flag' }
  | { kind: 'time' }
);

type Format = ReturnType<typeof useFormat>;

const textOf = (filter: Filter, value: string, format: Format): string => {
  if (filter.kind === 'flag') return filter.label;
  if (filter.kind === 'time') return `${filter.label} ${format.date(Date.parse(value))}`;
  const option = filter.kind === 'choice' ? filter.options.find(([each]) => each === value) : undefined;
  return `${filter.label}: ${option?.[1] ?? value}`;
};

/** A time of the address, which has a time zone, as the value of an input, which has none. */
const toField = (value: string | undefined): string => {
  const at = Date.parse(value ?? '');
  if (Number.isNaN(at)) return '';
  return new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
};

const FilterField = ({ filter }: { filter: Filter }) => {
  const t = useTexts(listTexts);
  const [query, setQuery] = useQueryState();
  const { key, label } = filter;
  const set = (value: string | undefined): void => setQuery({ [key]: value, page: undefined });
  switch (filter.kind) {
    case 'text':
      return <TextFilter name={key} label={label} {...(filter.options && { options: filter.options })} />;
    case 'flag':
      return (
        <CheckField
          label={label}
          checked={query[key] === 'true'}
          onChange={(isOn) => set(isOn ? 'true' : undefined)}
        />
      );
    case 'time':
      return (
        <label className={filterLook}>
          {label}
          <input
            type="datetime-local"
            className={controlLook}
            value={toField(query[key])}
            onChange={({ target }) => set(target.value ? new Date(target.value).toISOString() : undefined)}
          />
        </label>
      );
    default:
      return (
        <FilterSelect
          label={label}
          value={query[key] ?? ''}
          options={[['', t('any')], ...filter.options]}
          onChange={(value) => set(value || undefined)}
        />
      );
  }
};

/** Active filters as chips, and a button that shows all filters. */
export const FilterBar = ({ filters }: { filters: readonly Filter[] }) => {
  const t = useTexts(listTexts);
  const format = useFormat();
  const [query, setQuery] = useQueryState();
  const remove = (key: string): void => {
    const change: QueryChange = { [key]: undefined, page: undefined };
    setQuery(change);
  };
  return (
    <>
      <Popover position="bottom-start" trapFocus>
        <Popover.Target>
          <Button small icon="filter">
            {t('filter')}
          </Button>
        </Popover.Target>
        <Popover.Dropdown className={css.filters}>
          {filters.map((filter) => (
            <FilterField key={filter.key} filter={filter} />
          ))}
        </Popover.Dropdown>
      </Popover>
      {filters.flatMap((filter) => {
        const value = query[filter.key];
        if (value === undefined) return [];
        const text = textOf(filter, value, format);
        return (
          <button
            key={filter.key}
            type="button"
            className={css.filter}
            title={t('removeFilter')}
            onClick={() => remove(filter.key)}
          >
            <span>{text}</span>
            <Icon name="close" size={12} />
          </button>
        );
      })}
    </>
  );
};
