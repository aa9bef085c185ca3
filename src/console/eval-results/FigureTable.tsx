import type { ReactNode } from 'react';
import { Scroller } from '../design/Scroller.tsx';
import css from './EvalResults.module.css';

/** A small table of figures: its first column names the rows, the others hold numbers. */
export const FigureTable = (props: {
  label: string;
  columns: readonly string[];
  rows: readonly { key: string; name: ReactNode; figures: readonly ReactNode[] }[];
}) => (
  <Scroller label={props.label} className={css.scroller}>
    <table className={css.figures}>
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
        {props.rows.map(({ key, name, figures }) => (
          <tr key={key}>
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
