#!/bin/sh
echo 1..4
echo ok 1 - a
echo not ok 2 - b
echo ok 3 - c \# SKIP no
echo not ok 4 - d \# TODO later
