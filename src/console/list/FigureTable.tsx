import type { ReactNode } from 'react';
import { Scroller } from '../design/Scroller.tsx';
import css from './FigureTable.module.css';

export type FigureRow = {
  key: string;
  name: ReactNode;
  figures: readonly ReactNode[];
  isWrong?: boolean;
};

/** A small table, whose first column names the rows. The others hold numbers, or texts. */
export const FigureTable = (props: {
  label: string;
  columns: readonly string[];
  rows: readonly FigureRow[];
  hasTexts?: boolean;
}) => (
  <Scroller label={props.label} className={css.scroller}>
    <table className={css.table} data-texts={props.hasTexts || undefined}>
      <thead>
        <tr>
          {props.columns.map((column) => (
            <th key={column} scope="col">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {props.rows.map(({ key, name, figures, isWrong }) => (
          <tr key={key} data-wrong={isWrong || undefined}>
            <th scope="row">{name}</th>
            {figures.map((figure, place) => (
              <td key={props.columns[place + 1]}>{figure}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </Scroller>
);
