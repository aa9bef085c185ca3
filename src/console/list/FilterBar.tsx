import { Popover } from '@mantine/core';
import { useId } from 'react';
import { useAtom } from '../data/use-atom.ts';
import { Button } from '../design/Button.tsx';
import { CheckField, controlLook, FilterSelect, filterLook } from '../design/Field.tsx';
import { Icon } from '../design/Icon.tsx';
import { type Format, useFormat, useTexts, zone } from '../i18n/locale.ts';
import css from './List.module.css';
import listTexts from './texts.json' with { type: 'json' };
import { fromField, isTime, toField } from './time-field.ts';
import { useQueryState } from './use-query-state.ts';
import { useTyped } from './use-typed.ts';

/** A request is sent after typing has paused for this long. */
const PAUSE_MS = 300;

/** A text filter whose value is in the address of the screen. */
const TextFilter = (props: {
  name: string;
  label: string;
  title?: string | undefined;
  options?: readonly string[] | undefined;
}) => {
  const [query, setQuery] = useQueryState();
  const [typed, type] = useTyped(query[props.name] ?? '', PAUSE_MS, (text) =>
    setQuery({ [props.name]: text.trim() || undefined }),
  );
  const listId = useId();
  return (
    <label className={filterLook} title={props.title}>
      {props.label}
      <input
        className={controlLook}
        type="text"
        value={typed}
        list={props.options && listId}
        onChange={({ target }) => type(target.value)}
      />
      {props.options && (
        <datalist id={listId}>
          {props.options.map((option) => (
            <option key={option} value={option} />
          ))}
        </datalist>
      )}
    </label>
  );
};

type Options = readonly (readonly [value: string, label: string])[];

/** A filter whose value is a query parameter of the address. A choice and a time may share one. */
export type Filter = { key: string; label: string; title?: string } & (
  | { kind: 'choice'; options: Options }
  /** Any of the options. Their values are separated by commas. */
  | { kind: 'choices'; options: Options }
  | { kind: 'text'; options?: readonly string[] }
  | { kind: 'flag' }
  | { kind: 'time' }
);

const partsOf = (value = ''): string[] => value.split(',').filter(Boolean);

/** Undefined if the filter does not apply. */
const textOf = (filter: Filter, value: string | undefined, format: Format): string | undefined => {
  if (value === undefined) return undefined;
  const named = (options: Options) => (one: string) => options.find(([each]) => each === one)?.[1] ?? one;
  switch (filter.kind) {
    case 'flag':
      return filter.label;
    case 'time':
      return isTime(value) ? `${filter.label} ${format.date(Date.parse(value))}` : undefined;
    case 'choice':
      return isTime(value) ? undefined : `${filter.label}: ${named(filter.options)(value)}`;
    case 'choices':
      return `${filter.label}: ${partsOf(value).map(named(filter.options)).join(', ')}`;
    default:
      return `${filter.label}: ${value}`;
  }
};

const FilterField = ({ filter }: { filter: Filter }) => {
  const t = useTexts(listTexts);
  const where = useAtom(zone);
  const [query, setQuery] = useQueryState();
  const { key, label, title } = filter;
  const value = query[key] ?? '';
  const set = (next: string | undefined): void => setQuery({ [key]: next || undefined, page: undefined });
  switch (filter.kind) {
    case 'text':
      return <TextFilter name={key} label={label} title={title} options={filter.options} />;
    case 'flag':
      return (
        <CheckField
          label={label}
          checked={value === 'true'}
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
            value={toField(value, where)}
            onChange={({ target }) => set(fromField(target.value, where))}
          />
        </label>
      );
    case 'choices': {
      const chosen = partsOf(value);
      return (
        <fieldset className={css.choices}>
          <legend className="small">{label}</legend>
          {filter.options.map(([one, name]) => (
            <CheckField
              key={one}
              label={name}
              checked={chosen.includes(one)}
              onChange={(isOn) =>
                set([...chosen.filter((other) => other !== one), ...(isOn ? [one] : [])].join(','))
              }
            />
          ))}
        </fieldset>
      );
    }
    default:
      return (
        <FilterSelect
          label={label}
          value={isTime(value) ? '' : value}
          options={[['', t('any')], ...filter.options]}
          onChange={set}
        />
      );
  }
};

/** Active filters as chips, and a button that shows all filters. */
export const FilterBar = ({ filters }: { filters: readonly Filter[] }) => {
  const t = useTexts(listTexts);
  const format = useFormat();
  const [query, setQuery] = useQueryState();
  const remove = (...gone: readonly Filter[]): void =>
    setQuery({ page: undefined, ...Object.fromEntries(gone.map(({ key }) => [key, undefined])) });
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
            <FilterField key={`${filter.kind} ${filter.key}`} filter={filter} />
          ))}
          <Button
            small
            disabled={!filters.some(({ key }) => key in query)}
            onClick={() => remove(...filters)}
          >
            {t('common.clearAll')}
          </Button>
        </Popover.Dropdown>
      </Popover>
      {filters.flatMap((filter) => {
        const text = textOf(filter, query[filter.key], format);
        if (text === undefined) return [];
        return (
          <button
            key={`${filter.kind} ${filter.key}`}
            type="button"
            className={`row alert ${css.filter}`}
            title={t('removeFilter')}
            onClick={() => remove(filter)}
          >
            <span className="cut grow">{text}</span>
            <Icon name="close" size={12} />
          </button>
        );
      })}
    </>
  );
};
