module shop

go 1.19

require (
