"""Where a fit of the sparse GP spends its time, and what other ways of doing it would cost.

    python -m benchmarks.levers run
    python -m benchmarks.levers run --only evaluations --rounds 10
    python -m benchmarks.levers page

Three tables: the stages of whole default fits; one evaluation of the bound in several ways; whole trainings in several
ways. Ways take turns, in seconds of the processor on one thread. Of evaluations the best round counts; trainings depend
more on which rows are drawn than on the machine, so they are repeated with other seeds. Rows are generated and, where
RIO_UQ_DATA names a folder of the UCI files, those of real data sets, with ridge regression as model.
"""
