import { Popover } from '@mantine/core';
import { useState } from 'react';
import { isObject } from '../data/guard.ts';
import { KEYS, readJson, writeKey } from '../data/storage.ts';
import { IconButton } from '../design/Button.tsx';
import { CheckField } from '../design/Field.tsx';
import { useTexts } from '../i18n/locale.ts';
import type { Column } from './column.ts';
import css from './List.module.css';
import { type ColumnChoice, chosenColumns, isShown } from './list-state.ts';
import listTexts from './texts.json' with { type: 'json' };

const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];

const readChoice = (name: string): ColumnChoice => {
  const all = readJson(KEYS.columns);
  const stored = isObject(all) ? all[name] : undefined;
  return isObject(stored)
    ? { order: texts(stored.order), hidden: texts(stored.hidden), shown: texts(stored.shown) }
    : { order: [], hidden: [], shown: [] };
};

export const useColumnChoice = (name: string): [ColumnChoice, (choice: ColumnChoice) => void] => {
  const [choice, setChoice] = useState(() => readChoice(name));
  const choose = (next: ColumnChoice): void => {
    const all = readJson(KEYS.columns);
    writeKey(KEYS.columns, JSON.stringify({ ...(isObject(all) && all), [name]: next }));
    setChoice(next);
  };
  return [choice, choose];
};

export const ColumnMenu = <Row,>(props: {
  columns: readonly Column<Row>[];
  choice: ColumnChoice;
  onChange: (choice: ColumnChoice) => void;
}) => {
  const t = useTexts(listTexts);
  const { columns, choice, onChange } = props;
  const ordered = chosenColumns(columns, {
    order: choice.order,
    hidden: [],
    shown: columns.map(({ id }) => id),
  });
  const toggle = ({ id, isExtra }: Column<Row>): void => {
    const list = isExtra ? 'shown' : 'hidden';
    const others = (choice[list] ?? []).filter((other) => other !== id);
    const isListed = others.length < (choice[list] ?? []).length;
    onChange({ ...choice, [list]: isListed ? others : [...others, id] });
  };
  const move = (index: number, by: 1 | -1): void => {
    const order = ordered.map(({ id }) => id);
    const [moved] = order.splice(index, 1);
    if (moved !== undefined) order.splice(index + by, 0, moved);
    onChange({ ...choice, order });
  };
  return (
    <Popover position="bottom-end" trapFocus>
      <Popover.Target>
        <IconButton icon="columns" label={t('columns')} />
      </Popover.Target>
      <Popover.Dropdown p={6}>
        {ordered.map((column, index) => (
          <div key={column.id} className={`row spread nowrap ${css.choice}`}>
            <CheckField
              label={column.label}
              checked={isShown(column, choice)}
              disabled={column.always === true}
              onChange={() => toggle(column)}
            />
            <span>
              <IconButton
                small
                icon="arrowUp"
                label={t('moveUp', { column: column.label })}
                disabled={index === 0}
                onClick={() => move(index, -1)}
              />
              <IconButton
                small
                icon="arrowDown"
                label={t('moveDown', { column: column.label })}
                disabled={index === ordered.length - 1}
                onClick={() => move(index, 1)}
              />
            </span>
          </div>
        ))}
      </Popover.Dropdown>
    </Popover>
  );
};
